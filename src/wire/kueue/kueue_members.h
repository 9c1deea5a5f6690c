#pragma once

// The members of the values that Synergy writes into Kueue's objects and RoundPolicies. This file
// is separate because recordings contain these values, too (wire/journal/queue_members.h). Private
// to src/wire.
//
// Threading: pure.

#include "queues/kueue.h"
#include "queues/round_policy.h"
#include "wire/base/member_text.h"

namespace synergy::wire {

void Members(auto& each, Like<RoundNote> auto& note) {
  auto& [own, written, served, queue, queue_served, queue_waited, queue_entered, remaining,
         fair_share_delay, fragmentation_delay, lost_turns, left_at, at] = note;
  each("own", own);
  each("written", written);
  each("served", served);
  each("queue", queue);
  each("queueServed", queue_served);
  each("queueWaited", queue_waited);
  each("queueEntered", queue_entered);
  each("remaining", remaining);
  each("fairShareDelay", fair_share_delay);
  each("fragmentationDelay", fragmentation_delay);
  each("lostTurns", lost_turns);
  each("leftAt", left_at);
  each("at", at);
}

void Members(auto& each, Like<RoundPolicyStatus::Queue> auto& queue) {
  auto& [name, ready, message, gpus, runs, next, waits, left_alone, up_next] = queue;
  each("name", name);
  each("ready", ready);
  each("message", message);
  each("gpus", gpus);
  each("runs", runs);
  each("next", next);
  each("waits", waits);
  each("leftAlone", left_alone);
  each("upNext", up_next);
}

}  // namespace synergy::wire
