#include "extender/scheduler_extender.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "allocation/asked_nodes.h"
#include "allocation/candidates.h"
#include "allocation/preemption.h"
#include "allocation/ranking.h"
#include "allocation/room_under_way.h"
#include "cluster/state/fit.h"
#include "extender/filter_call.h"
#include "extender/gangs/lost_members.h"
#include "wire/extender/extender_messages.h"
#include "wire/pods/gpu_reservation.h"

namespace synergy::extender {
namespace {

using metrics::Verb;

static_assert(Ranking::kMostPoints == wire::kMostPoints);

// After this time without a request for a pod, its wait for a late watch is forgotten.
constexpr Duration kForgetLate = std::chrono::minutes(10);

// Returns whether the pod is placed together with its gang. Members that share GPUs are placed one
// by one, as are those without GPUs.
bool IsPlacedWithGang(const Pod& pod) { return pod.gang && !pod.SharesGpus(); }

decision::Asked Describe(const Pod& pod, std::optional<NodeIndex> counted_on,
                         const ClusterSnapshot& snapshot, const AskedNodes& asked) {
  decision::Asked described{.pod = pod, .counted_on = counted_on};
  described.nodes.reserve(asked.size());
  for (size_t i = 0; i < asked.size(); ++i) {
    described.nodes.emplace_back(asked.Name(i));
    const auto index = snapshot.Find(asked.Name(i));
    if (index && snapshot.node(*index).exists) continue;
    if (std::optional<Node> node = asked.Sent(i)) described.sent.push_back(*std::move(node));
  }
  return described;
}

// Measures a call from construction to destruction.
class Timed {
 public:
  Timed(metrics::ExtenderMetrics& metrics, const Clock& clock, Verb verb)
      : metrics_(metrics), clock_(clock), verb_(verb), start_(clock.Now()) {}
  ~Timed() { metrics_.CountCall(verb_, clock_.Now() - start_); }
  // Excludes the time so far, which the call has spent waiting.
  void BeginAgain() { start_ = clock_.Now(); }
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;

 private:
  metrics::ExtenderMetrics& metrics_;
  const Clock& clock_;
  Verb verb_;
  Instant start_;
};

}  // namespace

SchedulerExtender::SchedulerExtender(ClusterState& state, Binder& binder,
                                     const wire::ObjectReader& reader, PlacementRules rules,
                                     const Clock& clock, Logger& log,
                                     metrics::ExtenderMetrics& metrics, Watches watches)
    : state_(state),
      binder_(binder),
      reader_(reader),
      reserve_(rules.reserve),
      slack_(rules.slack),
      expect_timeout_(rules.expect_timeout),
      shadow_(rules.shadow),
      clock_(clock),
      log_(log),
      metrics_(metrics),
      watches_(std::move(watches)),
      late_watch_(BoundedWait(watches_.longest_late, kForgetLate)),
      gangs_(state, rules.reserve, reader.gpu_resource(), rules.gangs, std::move(rules.locality),
             clock, log) {}

std::string SchedulerExtender::Reject(Verb verb, const Error& error) {
  metrics_.CountError(verb, ToString(error.code));
  log_.Warn("request refused", {{"verb", ToString(verb)}, {"error", error.message}});
  return wire::WriteError(error.message);
}

Result<> SchedulerExtender::Ready() {
  if (shadow_) return Fail(ErrorCode::kDenied, "in shadow mode nothing is bound or evicted");
  if (!watches_.current()) {
    return Fail(
        ErrorCode::kUnavailable,
        "the extender has not listed all pods and nodes: its watches are new, or interrupted");
  }
  std::call_once(resumed_, [this] { gangs_.Resume(); });
  return {};
}

void SchedulerExtender::Look() {
  if (Ready()) gangs_.Resume();
  gangs_.Look();
}

Result<> SchedulerExtender::CountDevices(Pod& pod) const {
  if (!pod.devices) return {};
  const Pod sent = pod;
  pod = state_.WithDevices(sent);
  if (pod.devices->known) return {};
  watches_.catch_up();
  pod = state_.WithDevices(sent);
  if (pod.devices->known || shadow_) return {};
  return Fail(ErrorCode::kUnavailable, pod.devices->why_left_alone);
}

void SchedulerExtender::Expect(const Pod& pod, NodeIndex node) {
  state_.Expect(pod, node, clock_.Now() + expect_timeout_);
}

std::optional<PassingTerms> SchedulerExtender::TermsFor(const wire::ExtenderArgs& args) const {
  if (reserved_ == nullptr) return std::nullopt;
  return reserved_->TermsFor(args.pod, [&] { return wire::ReadLongestRun(args.pod_text); });
}

NodeSet SchedulerExtender::AvoidedBy(const Pod& pod) const {
  return elsewhere_ == nullptr ? NodeSet() : elsewhere_->AvoidedBy(pod);
}

std::optional<size_t> SchedulerExtender::LateNode(const Pod& pod, const AskedNodes& asked,
                                                  const std::vector<Reservation>& places) {
  const auto snapshot = state_.Snapshot();
  Candidates candidates(*snapshot, pod, CountedOn(state_, *snapshot, pod.uid), asked);
  const auto counts = [&](const Pod& there) {
    const std::optional<Placement> placement = state_.FindPlacement(there.uid);
    return (!placement || placement->assumed_until) &&
           std::none_of(places.begin(), places.end(),
                        [&there](const Reservation& place) { return place.pod->uid == there.uid; });
  };
  for (size_t i = 0; i < candidates.size(); ++i) {
    const NodeState& node = *candidates.Judge(i).state;
    if (!IsLate(pod, node, counts)) continue;
    return late_watch_.Lasts(pod.uid, clock_.Now(), node.changed) ? std::optional(i) : std::nullopt;
  }
  return std::nullopt;
}

std::string SchedulerExtender::AskAgain(std::string_view reason, std::string_view node) {
  metrics_.CountSecondLook("asked_again");
  return wire::WriteError(fmt::format(
      "{}; but kube-scheduler counts room on node {}: the extender's watch is late", reason, node));
}

std::string SchedulerExtender::Filter(std::string_view body) {
  const Timed timed(metrics_, clock_, Verb::kFilter);
  auto args = wire::ReadExtenderArgs(body, reader_);
  if (!args) return Reject(Verb::kFilter, args.error());
  // kube-scheduler retries soon after an error.
  if (const Result<> counted = CountDevices(args->pod); !counted)
    return Reject(Verb::kFilter, counted.error());
  if (LeavesAlone(args->pod))
    return wire::WriteFilterResult(args->whole_nodes, args->answers(), {});

  if (const Result<> ready = Ready(); !ready) return Reject(Verb::kFilter, ready.error());
  if (IsPlacedWithGang(args->pod)) return FilterMember(*args);
  const RequestedNodes asked(*args, reader_);
  const std::optional<PassingTerms> terms = TermsFor(*args);
  FilterCall call(state_, *args, asked, terms, reader_.gpu_resource(), clock_.WallNow());
  call.Judge();
  if (!call.Fits()) {
    if (std::optional<std::string> error = SeekRoom(call)) return *std::move(error);
  }
  if (call.names_reservation()) metrics_.CountReservedRefusal(Verb::kFilter);
  // With one node left, kube-scheduler skips the scores and takes that node.
  if (call.fitting().size() == 1 && call.last_fitting()) Expect(args->pod, *call.last_fitting());

  const std::string id = ids_.Begin(args->pod.uid);
  if (log_.Enabled(LogLevel::kDebug)) {
    log_.Debug("filtered", {{"request", id},
                            {"pod", args->pod.Key()},
                            {"nodes", args->size()},
                            {"fitting", call.fitting().size()}});
  }
  std::string answer = wire::WriteFilterResult(args->whole_nodes, call.Answers(), call.failed());
  if (journal_ != nullptr) {
    journal_->Wrote(decision::Filter{call.snapshot().version(),
                                     Describe(args->pod, call.counted_on(), call.snapshot(), asked),
                                     call.FittingNames(), terms});
  }
  return answer;
}

std::optional<std::string> SchedulerExtender::SeekRoom(FilterCall& call) {
  const Pod& pod = call.pod();
  if (!call.failed().empty() && retries_.Allow(call.snapshot().version(), clock_.Now(),
                                               [&call] { return call.MayFitSoon(); })) {
    watches_.catch_up();
    call.Judge();
    metrics_.CountSecondLook(call.Fits() ? "found_room" : "in_vain");
    if (call.Fits()) return std::nullopt;
  }
  if (gangs_.YieldTo(pod, call.Open())) call.Judge();
  if (call.Fits()) return std::nullopt;
  const std::vector<Reservation> places = state_.Reservations(ReservationKind::kReplacement);
  if (std::optional<std::string> error = ReleaseReplacements(call, places)) return error;
  if (call.Fits()) return std::nullopt;
  const std::optional<size_t> late = LateNode(pod, call.asked(), places);
  if (!late) return std::nullopt;
  return AskAgain(call.failed()[*late].reason, call.asked().Name(*late));
}

std::optional<std::string> SchedulerExtender::ReleaseReplacements(
    FilterCall& call, const std::vector<Reservation>& places) {
  if (places.empty()) return std::nullopt;
  Candidates judged = call.Look();
  for (size_t i = 0; i < judged.size(); ++i) {
    const auto in_the_way = ReservationsInTheWay(call.pod(), *judged.Judge(i).state, places);
    if (in_the_way.empty()) continue;
    if (YieldTo(call.pod(), in_the_way)) {
      for (const Reservation& place : in_the_way) state_.SettleReplacement(place.pod->uid, false);
      call.Judge();
      return std::nullopt;
    }
    std::string text = fmt::format("{}{}, of gang {}", kHeldForReplacement,
                                   in_the_way.back().pod->Key(), in_the_way.back().gang);
    // kube-scheduler would not notice that the place is released, but it retries soon after an
    // error.
    if (!in_the_way.back().settled) return wire::WriteError(text);
    call.Refuse(i, std::move(text));
  }
  return std::nullopt;
}

std::string SchedulerExtender::FilterMember(const wire::ExtenderArgs& args) {
  const RequestedNodes requested(args, reader_);
  const std::optional<PassingTerms> terms = TermsFor(args);
  const auto snapshot = state_.Snapshot();
  const OpenNodes asked(requested, args.pod, terms, *snapshot);
  std::map<std::string, OpenPart> parts;
  if (terms) parts = PartsOpenTo(*snapshot, args.pod, *terms);
  OpenGpus open;
  for (const auto& [node, part] : parts) open.emplace(node, part.gpus);
  RefusalTexts refusals(terms, clock_.WallNow());
  const std::string id = ids_.Begin(args.pod.uid);
  const NodeSet avoided = AvoidedBy(args.pod);
  const auto decide = [&] { return gangs_.Place(args.pod, asked, avoided, open); };
  GangVerdict verdict = decide();
  if (verdict.incomplete && count_succeeded_ &&
      gangs_.NoteSucceeded(args.pod, count_succeeded_(args.pod))) {
    verdict = decide();
  }
  if (verdict.short_of_room &&
      retries_.Allow(state_.version(), clock_.Now(), [] { return true; })) {
    watches_.catch_up();
    verdict = decide();
    metrics_.CountSecondLook(verdict.short_of_room ? "in_vain" : "found_room");
  }
  if (verdict.short_of_room) {
    const std::vector<Reservation> reserved = state_.Reservations(ReservationKind::kReplacement);
    if (const auto late = LateNode(args.pod, requested, reserved))
      return AskAgain(verdict.text, requested.Name(*late));
    // Unsettled places may be released within a second, which kube-scheduler would not notice.
    if (std::any_of(reserved.begin(), reserved.end(),
                    [](const auto& place) { return !place.settled; }))
      verdict.kind = GangVerdict::Kind::kNotYet;
  }
  log_.Debug("filtered", {{"request", id},
                          {"pod", args.pod.Key()},
                          {"gang", args.pod.gang->name},
                          {"verdict", verdict.text}});
  // After an error kube-scheduler retries on its own, and evicts no pod.
  if (verdict.kind == GangVerdict::Kind::kNotYet) return wire::WriteError(verdict.text);
  const bool is_placed = verdict.kind == GangVerdict::Kind::kPlaced;
  std::vector<std::string_view> fitting;
  std::vector<wire::FailedNode> failed;
  for (size_t i = 0; i < args.size(); ++i) {
    const GpuReservation* refused_by = asked.RefusedBy(i);
    // The condition of a pod must name a reservation that keeps off other members of its gang, so
    // that the controller reminds kube-scheduler of the pod when the reservation ends.
    const auto part = is_placed ? parts.end() : parts.find(std::string(requested.Name(i)));
    if (part != parts.end() && part->second.gpus < terms->gpus) refused_by = part->second.by;
    if (refused_by != nullptr) {
      failed.push_back({args.spelled_names[i], refusals.Text(*refused_by), true});
    } else if (is_placed && requested.Name(i) == verdict.text) {
      fitting.push_back(args.answers()[i]);
    } else {
      // No pod may be evicted for a single member of a gang.
      failed.push_back({args.spelled_names[i],
                        is_placed ? std::string_view("the gang's place is on another node")
                                  : std::string_view(verdict.text),
                        true});
    }
  }
  if (!refusals.empty()) metrics_.CountReservedRefusal(Verb::kFilter);
  return wire::WriteFilterResult(args.whole_nodes, fitting, failed);
}

std::string SchedulerExtender::Prioritize(std::string_view body) {
  const Timed timed(metrics_, clock_, Verb::kPrioritize);
  auto args = wire::ReadExtenderArgs(body, reader_);
  if (!args) return Reject(Verb::kPrioritize, args.error());
  if (const Result<> counted = CountDevices(args->pod); !counted)
    return Reject(Verb::kPrioritize, counted.error());

  std::vector<uint8_t> points(args->size(), 0);
  if (LeavesAlone(args->pod) || points.empty())
    return wire::WriteHostPriorityList(args->spelled_names, points);

  if (const Result<> ready = Ready(); !ready) return Reject(Verb::kPrioritize, ready.error());
  const RequestedNodes asked(*args, reader_);
  const auto snapshot = state_.Snapshot();
  const auto counted_on = CountedOn(state_, *snapshot, args->pod.uid);
  const NodeSet avoided = AvoidedBy(args->pod);
  const auto storage = storage_ == nullptr ? nullptr : storage_->Known();
  const Ranking ranking =
      RankNodes(*snapshot, args->pod, counted_on, asked, reserve_, avoided, storage.get());
  const double slack = args->pod.waiting && args->pod.waiting->prefers ? slack_ : 0;
  ranking.GivePoints(points, slack);
  const std::optional<NodeIndex> best = ranking.best_node();
  if (best && !ranking.LeavesTheChoice(slack)) Expect(args->pod, *best);

  if (log_.Enabled(LogLevel::kDebug)) {
    log_.Debug("prioritized", {{"request", ids_.Current(args->pod.uid)},
                               {"pod", args->pod.Key()},
                               {"fitting", ranking.size()},
                               {"best", ranking.best_name()}});
  }
  std::string answer = wire::WriteHostPriorityList(args->spelled_names, points);
  if (journal_ != nullptr) {
    journal_->Wrote(
        decision::Prioritize{snapshot->version(),
                             Describe(args->pod, counted_on, *snapshot, asked),
                             reserve_,
                             slack,
                             {points.begin(), points.end()},
                             ranking.best_node(),
                             {avoided.begin(), avoided.end()},
                             storage ? std::optional(storage->storage()) : std::nullopt});
  }
  return answer;
}

std::string SchedulerExtender::Bind(std::string_view body) {
  Timed timed(metrics_, clock_, Verb::kBind);
  const auto args = wire::ReadBindingArgs(body);
  if (!args) return Reject(Verb::kBind, args.error());
  if (const Result<> ready = Ready(); !ready) return Reject(Verb::kBind, ready.error());
  const Instant begin = clock_.Now();
  const Result<std::optional<ResourceVector>> common = gangs_.Await(args->pod_uid, args->node);
  timed.BeginAgain();
  const Result<> bound =
      common ? binder_.Bind(*args, ids_.Current(args->pod_uid), clock_.Now() - begin, *common)
             : Result<>(Fail(common.error()));
  if (bound) return wire::WriteError({});
  metrics_.CountError(Verb::kBind, ToString(bound.error().code));
  return wire::WriteError(bound.error().message);
}

std::string SchedulerExtender::Preempt(std::string_view body) {
  const Timed timed(metrics_, clock_, Verb::kPreempt);
  auto args = wire::ReadPreemptionArgs(body, reader_);
  if (!args) return Reject(Verb::kPreempt, args.error());
  if (const Result<> counted = CountDevices(args->pod); !counted)
    return Reject(Verb::kPreempt, counted.error());
  if (!shadow_ && LeavesAlone(args->pod)) return wire::WritePreemptionResult(args->proposed);
  if (const Result<> ready = Ready(); !ready) return Reject(Verb::kPreempt, ready.error());
  // A member of a gang is useless on its own. If kube-scheduler's own filters rejected every node,
  // there was no filter request, so this refuses the preemption.
  if (IsPlacedWithGang(args->pod)) return wire::WritePreemptionResult({});
  const auto snapshot = state_.Snapshot();
  std::optional<WallTime> reclaims_at;
  if (preemption_delay_.Lasts(args->pod.uid, clock_.Now())) reclaims_at = clock_.WallNow();
  std::vector<std::pair<std::string, std::vector<std::string>>> proposed;
  for (const wire::NodeVictims& node : args->proposed) proposed.emplace_back(node.node, node.uids);
  std::vector<NodeVictims> chosen =
      SelectVictimsByNode(*snapshot, args->pod, proposed, reclaims_at);
  std::optional<PassingTerms> terms;
  if (reserved_ != nullptr)
    terms = reserved_->TermsFor(args->pod, [&] { return args->longest_run; });
  if (terms) {
    const size_t before = chosen.size();
    DropReserved(*snapshot, args->pod, *terms, chosen);
    if (chosen.size() < before) metrics_.CountReservedRefusal(Verb::kPreempt);
  }
  std::vector<wire::NodeVictims> nodes;
  for (const auto& [name, victims] : chosen) {
    wire::NodeVictims& node = nodes.emplace_back();
    node.node = name;
    for (const auto& victim : victims.pods) node.uids.push_back(victim->uid);
    node.disruption_budget_violations = victims.disruption_budget_violations;
  }
  log_.Info("preemption considered", {{"request", ids_.Current(args->pod.uid)},
                                      {"pod", args->pod.Key()},
                                      {"proposed_nodes", proposed.size()},
                                      {"kept_nodes", nodes.size()}});
  std::string answer = wire::WritePreemptionResult(nodes);
  if (journal_ != nullptr) {
    decision::Preempt record{snapshot->version(),        args->pod, {}, reclaims_at,
                             decision::Describe(chosen), terms};
    for (const auto& [name, uids] : proposed) record.proposed.push_back({name, uids});
    journal_->Wrote(record);
  }
  return answer;
}

}  // namespace synergy::extender
