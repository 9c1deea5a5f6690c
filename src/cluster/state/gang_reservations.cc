// Implements the part of PodRecords for gangs: reservations for their members, and for replacements
// of lost members.

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cluster/state/pod_records.h"

namespace synergy {

bool PodRecords::Reserve(const std::vector<GangPlace>& places, Instant deadline) {
  const bool can_be_reserved = std::all_of(places.begin(), places.end(), [this](const auto& place) {
    const Record* record = Find(place.uid);
    return record != nullptr && record->seen && record->standing != Standing::kBound &&
           record->standing != Standing::kAssumed;
  });
  if (!can_be_reserved) {
    std::vector<std::string> uids;
    for (const GangPlace& place : places) uids.push_back(place.uid);
    Release(uids);
    return false;
  }
  // The members' previous places must not block each other.
  for (const GangPlace& place : places) {
    Record& record = records_.at(place.uid);
    record.of_gang.reset();
    Set(record, record.seen, Standing::kWaiting, Instant{});
  }
  const std::vector<Reservation> taken = FillReplacements(places);
  bool all_fit = true;
  for (const GangPlace& place : places) {
    Record& record = records_.at(place.uid);
    auto placed = std::make_shared<Pod>(*record.seen);
    placed->node = place.node;
    all_fit = FitsNow(*placed);
    if (!all_fit) break;
    record.of_gang = {place.node, deadline};
    Set(record, std::move(placed), Standing::kReservedByGang, Instant{});
  }
  if (all_fit) return true;
  for (const GangPlace& place : places) {
    Record& record = records_.at(place.uid);
    record.of_gang.reset();
    ApplyWatch(record);
  }
  for (const Reservation& place : taken) replacements_.Put(place);
  return false;
}

void PodRecords::Release(const std::vector<std::string>& uids) {
  for (const std::string& uid : uids) {
    Record* record = Find(uid);
    if (record == nullptr || !record->of_gang) continue;
    record->of_gang.reset();
    if (record->standing == Standing::kReservedByGang) ApplyWatch(*record);
  }
}

std::vector<GangMember> PodRecords::GangMembers(const std::string& gang) const {
  std::vector<GangMember> members;
  const auto uids = gangs_.find(gang);
  if (uids == gangs_.end()) return members;
  for (const std::string& uid : uids->second) {
    const Record& record = records_.at(uid);
    if (record.seen->deleting || record.seen->gated) continue;
    GangMember& member = members.emplace_back();
    member.pod = record.seen;
    member.placed = record.standing == Standing::kBound || record.standing == Standing::kAssumed;
    if (HasGangPlace(record)) member.node = record.pod->node;
  }
  return members;
}

bool PodRecords::FitsNow(const Pod& pod) const {
  const auto place = nodes_.Find(pod.node);
  return place && CheckFit(pod, nodes_[*place]).none();
}

void PodRecords::InvalidateGang(const Record& record) {
  if (record.seen && record.seen->gang) invalid_gangs_.insert(record.seen->gang->name);
}

std::shared_ptr<const GangsByName> PodRecords::ShareGangs() {
  bool changed = false;
  for (const std::string& name : std::exchange(invalid_gangs_, {})) {
    const auto uids = gangs_.find(name);
    const GangSites* const known = gang_sites_.Find(name);
    if (uids == gangs_.end()) {
      changed |= known != nullptr;
      gang_sites_.Erase(name);
      continue;
    }
    GangSites sites = SitesOf(name, uids->second);
    if (known != nullptr && sites == *known) continue;
    gang_sites_.Put(name, std::move(sites));
    changed = true;
  }
  if (changed) shared_gangs_ = std::make_shared<const GangsByName>(gang_sites_.Share());
  return shared_gangs_;
}

void PodRecords::NoteSucceeded(const std::string& gang, size_t members) {
  if (!gangs_.contains(gang)) return;
  size_t& known = succeeded_[gang];
  if (std::exchange(known, members) == members) return;
  invalid_gangs_.insert(gang);
  version_.Advance();
}

GangSites PodRecords::SitesOf(const std::string& gang, const std::set<std::string>& uids) const {
  GangSites sites;
  if (const auto known = succeeded_.find(gang); known != succeeded_.end())
    sites.succeeded = known->second;
  for (const std::string& uid : uids) {
    const Record& record = records_.at(uid);
    const Pod& seen = *record.seen;
    if (record.standing != Standing::kWaiting) sites.nodes.push_back(record.place);
    // A gated member is not there for the extender, either.
    if (seen.deleting || seen.gated) continue;
    ++sites.members;
    if (seen.UsesGpus() && seen.node.empty()) ++sites.waiting;
  }
  std::sort(sites.nodes.begin(), sites.nodes.end());
  sites.nodes.erase(std::unique(sites.nodes.begin(), sites.nodes.end()), sites.nodes.end());
  return sites;
}

void PodRecords::LeaveGang(const Record& record) {
  InvalidateGang(record);
  if (!record.seen || !record.seen->gang) return;
  const auto uids = gangs_.find(record.seen->gang->name);
  uids->second.erase(record.seen->uid);
  if (uids->second.empty()) gangs_.erase(uids);
}

void PodRecords::ReserveForReplacement(const Pod& gone, const Gang& gang) {
  if (replacement_hold_ <= Duration{} || gang.size <= 0 || !gone.UsesGpus()) return;
  auto counted = std::make_shared<Pod>(gone);
  counted->gang = nullptr;
  counted->fungible = nullptr;
  replacements_.Put({.kind = ReservationKind::kReplacement,
                     .pod = std::move(counted),
                     .gang = gang.name,
                     .until = Later(now_, replacement_hold_),
                     .settled = false});
  LimitReplacements(gang);
}

std::vector<Reservation> PodRecords::FillReplacements(const std::vector<GangPlace>& places) {
  if (replacements_.empty() || places.empty()) return {};
  const std::shared_ptr<const Pod> first = records_.at(places.front().uid).seen;
  if (!first->gang) return {};
  std::vector<std::string> nodes;
  for (const GangPlace& place : places) {
    if (records_.at(place.uid).seen->UsesGpus()) nodes.push_back(place.node);
  }
  return LimitReplacements(*first->gang, nodes);
}

std::vector<Reservation> PodRecords::LimitReplacements(const Gang& gang,
                                                       const std::vector<std::string>& filled) {
  if (replacements_.empty()) return {};
  size_t there = filled.size();
  bool any_runs = false;
  if (const auto uids = gangs_.find(gang.name); uids != gangs_.end()) {
    for (const std::string& uid : uids->second) {
      const Record& record = records_.at(uid);
      if (record.seen->deleting) continue;
      const bool has_gpus = record.seen->UsesGpus();
      any_runs |= has_gpus && record.standing == Standing::kBound;
      // A member without GPUs counts as placed once it exists.
      if (HasGangPlace(record) || !has_gpus) ++there;
    }
  }
  const auto size = static_cast<size_t>(gang.size);
  return replacements_.Limit(gang.name, any_runs && there < size ? size - there : 0, filled);
}

}  // namespace synergy
