#include "queues/types/gpu_type_speeds.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "cluster/labels.h"
#include "profile/job_profile.h"

namespace synergy {
namespace {

// The weight of a new rate in the exponential average.
constexpr double kWeightOfLast = 0.5;
// The largest factor by which the speeds of one kind may differ between products.
constexpr double kMostRatio = 100;

// Returns whether a node selector can choose the node by its product. A node whose product is known
// from another source than its label cannot be chosen. REQUIRES: the node has one product.
bool IsSelectable(const NodeDetail& node) {
  return FindLabel(node.labels, kGpuProductLabel) == node.gpu_kinds.products.front();
}

// Returns the speeds in `progress`, and those in `profiles` on other products, scaled to the unit
// of `progress`.
std::map<std::string, double> Join(const std::map<std::string, double>& profiles,
                                   const std::map<std::string, double>& progress) {
  double ratio = 0;
  double common = 0;
  for (const auto& [product, rate] : progress) {
    const auto found = profiles.find(product);
    if (found == profiles.end() || found->second <= 0) continue;
    ratio += rate / found->second;
    ++common;
  }
  if (common == 0) return progress.size() >= profiles.size() ? progress : profiles;
  std::map<std::string, double> joined = progress;
  for (const auto& [product, speed] : profiles) joined.emplace(product, speed * ratio / common);
  return joined;
}

double Best(const std::map<std::string, double>& speeds) {
  double best = 0;
  for (const auto& [product, speed] : speeds) best = std::max(best, speed);
  return best;
}

}  // namespace

std::map<std::string, ProductGpus> GpuTypeSpeeds::Count(const std::set<std::string>& ours) const {
  std::map<std::string, ProductGpus> counts;
  const auto snapshot = state_.Snapshot();
  for (NodeIndex index = 0; index < snapshot->size(); ++index) {
    const NodeState& node = snapshot->node(index);
    if (!node.Schedulable() || node.allocatable.gpus <= Gpus(0)) continue;
    if (node.detail->gpu_kinds.products.size() != 1 || !IsSelectable(*node.detail)) continue;
    int64_t of_others = 0;
    for (const auto& pod : node.detail->pods) {
      if (!ours.contains(pod->uid) && !pod->terminal) of_others += pod->requests.main.gpus.count();
    }
    ProductGpus& count = counts[node.detail->gpu_kinds.products.front()];
    count.total += node.allocatable.gpus.count();
    count.usable += std::max<int64_t>(node.allocatable.gpus.count() - of_others, 0);
    count.free += std::max<int64_t>(node.Free().gpus.count(), 0);
  }
  return counts;
}

std::string GpuTypeSpeeds::ProductOf(std::string_view node) const {
  const auto snapshot = state_.Snapshot();
  const auto index = snapshot->Find(node);
  if (!index || !snapshot->node(*index).detail) return {};
  return snapshot->node(*index).detail->gpu_kinds.OnlyProduct();
}

std::set<std::string> GpuTypeSpeeds::ProductsFor(const NodeSelection& selection) const {
  std::set<std::string> products;
  const auto snapshot = state_.Snapshot();
  for (NodeIndex index = 0; index < snapshot->size(); ++index) {
    const NodeState& node = snapshot->node(index);
    if (!node.Schedulable() || node.detail->gpu_kinds.products.size() != 1) continue;
    const std::string& product = node.detail->gpu_kinds.products.front();
    if (products.contains(product)) continue;
    if (MayGoTo(selection, node.detail->name, node.detail->labels, {})) products.insert(product);
  }
  return products;
}

GpuTypeSpeeds::Kind GpuTypeSpeeds::KindOf(const Workload& workload) const {
  std::string alike = workload.alike;
  if (!workload.profile.empty()) {
    const auto known = profiles_.Find(workload.workload_namespace, workload.profile);
    if (known && !known->object.workload.empty()) alike = known->object.workload;
  }
  return {workload.workload_namespace, alike, workload.pod_gpus, workload.pods};
}

void GpuTypeSpeeds::Learn(const Workload& workload, const std::string& product, double rate) {
  constexpr double kMost = JobProfile::kMostThroughput;
  if (product.empty() || !(rate >= 1 / kMost && rate <= kMost)) return;
  Learned& learned = learned_[KindOf(workload)];
  learned.at = ++calls_;
  const auto [known, is_new] = learned.speeds.try_emplace(product, rate);
  if (!is_new) known->second += kWeightOfLast * (rate - known->second);
  known_version_.reset();
  if (learned_.size() <= kMostLearned) return;
  learned_.erase(
      std::min_element(learned_.begin(), learned_.end(),
                       [](const auto& a, const auto& b) { return a.second.at < b.second.at; }));
}

std::map<GpuTypeSpeeds::Kind, GpuTypeSpeeds::ByProduct> GpuTypeSpeeds::FromProfiles() const {
  // Assume that the pods tolerate the taints of the nodes that they are meant for.
  NodeSelection anywhere;
  anywhere.tolerations = {{.exists = true}};
  std::map<Kind, ByProduct> kinds;
  for (const auto& known : profiles_.All()) {
    const ProfileObject& object = known->object;
    const std::string& product = object.training.gpu_product;
    if (object.profile == nullptr || product.empty() || object.workload.empty()) continue;
    const Gpus gpus = object.profile->gpus();
    const auto share = fair_share_(anywhere, gpus, product);
    if (!share) continue;
    const double speed = object.profile->ThroughputAt(share->cpu, share->memory);
    ByProduct& speeds = kinds[{object.profile_namespace, object.workload, gpus, object.gang_size}];
    // A measured profile takes precedence over one that a user wrote.
    if (object.IsMeasured()) {
      speeds.insert_or_assign(product, speed);
    } else {
      speeds.emplace(product, speed);
    }
  }
  return kinds;
}

const std::map<GpuTypeSpeeds::Kind, GpuTypeSpeeds::ByProduct>& GpuTypeSpeeds::Known() const {
  if (known_version_ == profiles_.version()) return known_;
  known_version_ = profiles_.version();
  known_ = FromProfiles();
  for (const auto& [kind, progress] : learned_) known_[kind] = Join(known_[kind], progress.speeds);
  for (auto& [kind, speeds] : known_) {
    const double least = Best(speeds) / kMostRatio;
    for (auto& [product, speed] : speeds) speed = speed > 0 ? std::max(speed, least) : 0;
  }
  products_.clear();
  estimates_.clear();
  return known_;
}

std::vector<double> GpuTypeSpeeds::MeanSpeeds(const std::vector<std::string>& products) const {
  struct Mean {
    double sum = 0;
    double count = 0;
  };
  std::vector<std::map<std::string, Mean>> means(products.size());  // by namespace
  for (const auto& [kind, speeds] : Known()) {
    const double best = Best(speeds);
    for (size_t at = 0; best > 0 && at < products.size(); ++at) {
      const auto found = speeds.find(products[at]);
      if (found == speeds.end()) continue;
      Mean& mean = means[at][std::get<0>(kind)];
      mean.sum += found->second / best;
      ++mean.count;
    }
  }
  std::vector<double> medians(products.size(), 0);
  for (size_t at = 0; at < products.size(); ++at) {
    std::vector<double> values;
    for (const auto& [name, mean] : means[at]) values.push_back(mean.sum / mean.count);
    if (!values.empty()) medians[at] = Median(std::move(values));
  }
  return medians;
}

const std::vector<TypeSpeed>& GpuTypeSpeeds::Estimate(
    const Kind& kind, const std::vector<std::string>& products) const {
  const std::map<Kind, ByProduct>& all = Known();
  const auto read = [&](const ByProduct& speeds) {
    KnownSpeeds known;
    for (const std::string& product : products) {
      const auto found = speeds.find(product);
      known.push_back(found == speeds.end() ? std::nullopt : std::optional(found->second));
    }
    return known;
  };
  if (products_ != products) {
    products_ = products;
    estimates_.clear();
    std::map<std::string, std::vector<KnownSpeeds>> by_namespace;
    for (const auto& [known, speeds] : all)
      by_namespace[std::get<0>(known)].push_back(read(speeds));
    groups_.clear();
    for (auto& [name, group] : by_namespace) groups_.push_back(std::move(group));
  }
  const auto [estimate, is_new] = estimates_.try_emplace(kind);
  // The group of the kind's own namespace contains the kind, but without the products to estimate.
  const auto found = all.find(kind);
  if (is_new)
    estimate->second =
        EstimateSpeeds(read(found == all.end() ? ByProduct() : found->second), groups_);
  return estimate->second;
}

std::vector<TypeSpeed> GpuTypeSpeeds::SpeedsOf(const Workload& workload,
                                               const std::vector<std::string>& products) const {
  const std::map<Kind, ByProduct>& all = Known();
  Kind own = KindOf(workload);
  // Without speeds for this size, use those of one pod, or of one GPU: they also show which
  // products are faster.
  if (!all.contains(own)) std::get<int64_t>(own) = 1;
  if (!all.contains(own)) std::get<Gpus>(own) = Gpus(1);
  std::vector<TypeSpeed> speeds = Estimate(own, products);
  // Admission ignores a profile's product that no node has, so it restricts nothing here, either.
  std::string of_profile = ProductOfProfile(workload);
  if (std::find(products.begin(), products.end(), of_profile) == products.end()) of_profile.clear();
  std::vector<std::set<std::string>> selected;
  for (const NodeSelection& selection : workload.selections)
    selected.push_back(ProductsFor(selection));
  for (size_t at = 0; at < products.size(); ++at) {
    const bool allowed =
        (!workload.products || std::find(workload.products->begin(), workload.products->end(),
                                         products[at]) != workload.products->end()) &&
        (of_profile.empty() || of_profile == products[at]) &&
        std::all_of(selected.begin(), selected.end(),
                    [&](const auto& each) { return each.contains(products[at]); });
    if (!allowed) speeds[at] = {0, false};
  }
  return speeds;
}

std::string GpuTypeSpeeds::ProductOfProfile(const Workload& workload) const {
  if (workload.profile.empty()) return {};
  const auto known = profiles_.Find(workload.workload_namespace, workload.profile);
  return known ? known->object.training.gpu_product : std::string();
}

}  // namespace synergy
