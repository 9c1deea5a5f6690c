// The part of PodRecords for gangs.

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cluster/state/pod_records.h"

namespace synergy {

bool PodRecords::Hold(const std::vector<GangPlace>& places, Instant deadline) {
  const bool can_be_held = std::all_of(places.begin(), places.end(), [this](const auto& place) {
    const Record* record = Find(place.uid);
    return record != nullptr && record->seen && record->standing != Standing::kBound &&
           record->standing != Standing::kAssumed;
  });
  if (!can_be_held) {
    std::vector<std::string> uids;
    for (const GangPlace& place : places) uids.push_back(place.uid);
    Release(uids);
    return false;
  }
  // The previous places of the members must not be in each other's way.
  for (const GangPlace& place : places) {
    Record& record = records_.at(place.uid);
    record.held.reset();
    Set(record, record.seen, Standing::kWaiting, Instant{});
  }
  const std::vector<VacantPlace> taken = FillVacant(places);
  bool all_fit = true;
  for (const GangPlace& place : places) {
    Record& record = records_.at(place.uid);
    auto placed = std::make_shared<Pod>(*record.seen);
    placed->node = place.node;
    all_fit = FitsNow(*placed);
    if (!all_fit) break;
    record.held = {place.node, deadline};
    Set(record, std::move(placed), Standing::kHeld, Instant{});
  }
  if (all_fit) return true;
  for (const GangPlace& place : places) {
    Record& record = records_.at(place.uid);
    record.held.reset();
    ApplyWatch(record);
  }
  for (const VacantPlace& place : taken) vacant_.Put(place);
  return false;
}

void PodRecords::Release(const std::vector<std::string>& uids) {
  for (const std::string& uid : uids) {
    Record* record = Find(uid);
    if (record == nullptr || !record->held) continue;
    record->held.reset();
    if (record->standing == Standing::kHeld) ApplyWatch(*record);
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
    if (member.placed || record.standing == Standing::kHeld) member.node = record.pod->node;
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
    GangSites sites = SitesOf(uids->second);
    if (known != nullptr && sites == *known) continue;
    gang_sites_.Put(name, std::move(sites));
    changed = true;
  }
  if (changed) shared_gangs_ = std::make_shared<const GangsByName>(gang_sites_.Share());
  return shared_gangs_;
}

GangSites PodRecords::SitesOf(const std::set<std::string>& uids) const {
  GangSites sites;
  for (const std::string& uid : uids) {
    const Record& record = records_.at(uid);
    const Pod& seen = *record.seen;
    if (record.standing != Standing::kWaiting) sites.nodes.push_back(record.place);
    if (seen.deleting) continue;
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

}  // namespace synergy
