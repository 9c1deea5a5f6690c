#include "property/scheduler_model.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "allocation/asked_nodes.h"
#include "cluster/node_selection.h"

namespace synergy::extender {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// The value in kube-scheduler's shipped configuration.
constexpr Duration kHttpTimeout = seconds(15);
// Time that is allowed after a hold's stated end, for a check and for binds that are under way.
constexpr Duration kAfterHold = seconds(18);

class Names final : public AskedNodes {
 public:
  explicit Names(std::vector<std::string> names) : names_(std::move(names)) {}
  size_t size() const override { return names_.size(); }
  std::string_view Name(size_t i) const override { return names_[i]; }
  std::optional<Node> Sent(size_t) const override { return std::nullopt; }

 private:
  std::vector<std::string> names_;
};

bool Selects(const LabelSelector& selector, const Pod& by, const Pod& pod) {
  return by.pod_namespace == pod.pod_namespace && selector.Matches(pod.labels);
}

bool MayGoByMessages(const Pod& pod, const Node& node) {
  return pod.waiting == nullptr || pod.waiting->selection == nullptr ||
         MayGoTo(*pod.waiting->selection, node.name, node.labels, node.taints);
}

}  // namespace

SchedulerModel::SchedulerModel(ModelRules rules, uint64_t seed) : rules_(rules), random_(seed) {
  Start();
}

void SchedulerModel::AddNode(Node node) {
  state_->UpsertNode(node);
  const std::string name = node.name;
  nodes_[name] = std::move(node);
}

void SchedulerModel::Create(ModelPod pod) {
  state_->UpsertPod(pod.pod);
  const std::string name = pod.pod.name;
  queue_[name] = {};
  pods_[name] = std::move(pod);
}

void SchedulerModel::Delete(const std::string& name) {
  Note(fmt::format("{} is deleted", name));
  state_->RemovePod(pods_.at(name).pod.uid);
  pods_.erase(name);
  queue_.erase(name);
  std::erase_if(bindings_, [&](const Binding& binding) { return binding.name == name; });
  MoveAll();
}

void SchedulerModel::Kill() {
  Note("the extender restarts");
  Start();
  for (const auto& [name, node] : nodes_) state_->UpsertNode(node);
  for (const auto& [name, pod] : pods_) state_->UpsertPod(pod.pod);
  news_.clear();
  // Connections break.
  for (Binding& binding : bindings_) {
    if (binding.bind == nullptr || binding.answered != Instant{}) continue;
    binding.answered = clock_.Now();
    binding.bind = nullptr;
  }
}

void SchedulerModel::Start() {
  gangs_.reset();
  state_ = std::make_unique<ClusterState>();
  state_->DropStaleExpectations(clock_.Now(), clock_.WallNow());
  gangs_ = std::make_unique<Gangs>(*state_, ReserveRule{}, "nvidia.com/gpu", rules_.times,
                                   LocalityRules{}, clock_, log_);
  held_since_.clear();
}

void SchedulerModel::Run(Duration time) {
  const Instant end = clock_.Now() + time;
  while (clock_.Now() < end && fault_.empty()) {
    Deliver();
    if (clock_.Now() >= next_look_) {
      state_->DropStaleExpectations(clock_.Now(), clock_.WallNow());
      gangs_->Look();
      next_look_ = clock_.Now() + seconds(1);
    }
    CheckHolds();
    if (ScheduleOne()) {
      clock_.Advance(milliseconds(1 + random_.Below(20)));
    } else {
      clock_.Advance(
          std::max<Duration>(std::min(NextMoment(), end) - clock_.Now(), milliseconds(1)));
    }
  }
}

Duration SchedulerModel::Latency() {
  return random_.Below(50) == 0 ? milliseconds(random_.Below(3000))
                                : milliseconds(random_.Below(20));
}

Instant SchedulerModel::ReadyAt(const Queued& queued) const {
  if (queued.attempts == 0) return queued.tried;
  const int doublings = std::min(queued.attempts - 1, 4);
  return queued.tried + std::min<Duration>(seconds(10), seconds(1) * (1 << doublings));
}

bool SchedulerModel::ScheduleOne() {
  std::vector<std::string> ready;
  for (auto& [name, queued] : queue_) {
    // kube-scheduler retries pods after five minutes even without an event.
    const bool is_due = queued.unschedulable ? clock_.Now() >= queued.tried + seconds(300)
                                             : clock_.Now() >= ReadyAt(queued);
    if (is_due) ready.push_back(name);
  }
  if (ready.empty()) return false;
  Schedule(ready[random_.Below(ready.size())]);
  return true;
}

void SchedulerModel::Schedule(const std::string& name) {
  ++cycles_;
  const ModelPod& pod = pods_.at(name);
  Queued& queued = queue_.at(name);
  ++queued.attempts;
  queued.tried = clock_.Now();
  queued.unschedulable = false;
  const auto counted = Counted();
  std::vector<std::string> allowed;
  for (const auto& [node, object] : nodes_) {
    if (Filters(pod, node, counted)) allowed.push_back(node);
  }
  if (allowed.empty()) {
    queued.unschedulable = true;
    return;
  }
  // The call or its answer is lost, which is an error.
  if (Lost()) return;
  const GangVerdict verdict = gangs_->Place(pod.pod, Names(allowed));
  Note(fmt::format("{} may go to {}: {}", name, fmt::join(allowed, " "), verdict.text));
  if (verdict.kind == GangVerdict::Kind::kNotYet || Lost()) return;
  if (verdict.kind == GangVerdict::Kind::kRefused) {
    queued.unschedulable = true;
    return;
  }
  if (std::find(allowed.begin(), allowed.end(), verdict.text) == allowed.end()) {
    fault_ = fmt::format("{} is sent to {}, where it may not go", name, verdict.text);
    return;
  }
  Binding binding{.name = name, .node = verdict.text};
  binding.arrives = clock_.Now() + Latency();
  binding.gives_up = clock_.Now() + kHttpTimeout;
  binding.lost = Lost();
  binding.answer_lost = Lost();
  bindings_.push_back(std::move(binding));
  attempts_[name] = queued.attempts;
  queue_.erase(name);
}

std::map<std::string, std::string> SchedulerModel::Counted() const {
  std::map<std::string, std::string> counted;
  for (const auto& [name, pod] : pods_) {
    if (!pod.pod.node.empty()) counted[name] = pod.pod.node;
  }
  for (const Binding& binding : bindings_) counted[binding.name] = binding.node;
  return counted;
}

bool SchedulerModel::Filters(const ModelPod& asked, const std::string& node,
                             const std::map<std::string, std::string>& places) const {
  const Pod& pod = asked.pod;
  const Node& there = nodes_.at(node);
  if (!MayGoByMessages(pod, there) || asked.forbidden.contains(node)) return false;
  Gpus free = there.allocatable.main.gpus - pod.requests.main.gpus;
  const auto value = [&](const std::string& on, const std::string& key) {
    return FindLabel(nodes_.at(on).labels, key);
  };
  for (const auto& [name, place] : places) {
    const Pod& other = pods_.at(name).pod;
    if (other.uid == pod.uid) continue;
    if (place == node) free -= other.requests.main.gpus;
    if (place == node && pod.separation && other.separation &&
        ShareAPort(*pod.separation, *other.separation)) {
      return false;
    }
    for (const auto& [by, of] : {std::pair(&pod, &other), std::pair(&other, &pod)}) {
      if (by->separation == nullptr) continue;
      for (const AntiAffinity& term : by->separation->anti_affinity) {
        const auto here = value(node, term.topology_key);
        if (here && here == value(place, term.topology_key) && Selects(term.selector, *by, *of))
          return false;
      }
    }
  }
  if (free < Gpus(0)) return false;
  if (pod.separation == nullptr) return true;
  for (const TopologySpread& spread : pod.separation->spread) {
    const auto here = value(node, spread.topology_key);
    if (!here) return false;
    std::map<std::string_view, int> counts;
    for (const auto& [name, object] : nodes_) {
      if (const auto domain = value(name, spread.topology_key);
          domain && MayGoByMessages(pod, object))
        counts[*domain];
    }
    for (const auto& [name, place] : places) {
      const Pod& other = pods_.at(name).pod;
      if (other.uid == pod.uid || !MayGoByMessages(pod, nodes_.at(place))) continue;
      const auto domain = value(place, spread.topology_key);
      if (domain && Selects(spread.selector, pod, other)) ++counts[*domain];
    }
    int fewest = counts.begin()->second;
    for (const auto& [domain, count] : counts) fewest = std::min(fewest, count);
    const int self = spread.selector.Matches(pod.labels) ? 1 : 0;
    if (counts[*here] + self - fewest > spread.max_skew) return false;
  }
  return true;
}

void SchedulerModel::Deliver() {
  for (const News& news : std::vector(news_)) {
    if (news.at > clock_.Now()) continue;
    for (const auto& [name, pod] : pods_) {
      if (pod.pod.uid == news.uid) state_->UpsertPod(pod.pod);
    }
    std::erase_if(news_, [&](const News& each) { return each.uid == news.uid; });
  }
  for (Binding& binding : bindings_) {
    if (binding.bind == nullptr && !binding.lost && binding.answered == Instant{} &&
        binding.arrives <= clock_.Now()) {
      binding.bind = gangs_->BeginBind(pods_.at(binding.name).pod.uid, binding.node);
    }
  }
  // All binds of a gang are released at the same moment.
  std::map<std::string, int> let_go;
  for (Binding& binding : bindings_) {
    if (binding.bind == nullptr || binding.answered != Instant{}) continue;
    const auto outcome = gangs_->OutcomeOf(*binding.bind);
    if (outcome && *outcome) ++let_go[pods_.at(binding.name).pod.gang->name];
  }
  for (const auto& [gang, members] : let_go) {
    int placed = members;
    int size = 0;
    for (const auto& [name, pod] : pods_) {
      if (pod.pod.gang->name != gang) continue;
      size = pod.pod.gang->size;
      placed += pod.pod.node.empty() ? 0 : 1;
    }
    if (placed < size && placed == members)
      fault_ = fmt::format("{} of {} members of {} are let go", placed, size, gang);
  }
  for (Binding& binding : bindings_) Settle(binding);
  std::vector<std::string> failed;
  for (const Binding& binding : bindings_) {
    const bool has_answer = binding.answered != Instant{} && binding.answered <= clock_.Now();
    if (!has_answer && clock_.Now() < binding.gives_up) continue;
    if (!(has_answer && binding.is_bound)) failed.push_back(binding.name);
  }
  const bool any_over =
      std::erase_if(bindings_, [&](const Binding& binding) {
        return (binding.answered != Instant{} && binding.answered <= clock_.Now()) ||
               clock_.Now() >= binding.gives_up;
      }) > 0;
  for (const std::string& name : failed) Fail(name);
  if (any_over) MoveAll();
}

void SchedulerModel::Settle(Binding& binding) {
  if (binding.bind == nullptr || binding.answered != Instant{}) return;
  const auto outcome = gangs_->OutcomeOf(*binding.bind);
  if (!outcome) return;
  Pod& pod = pods_.at(binding.name).pod;
  binding.answered = binding.answer_lost ? binding.gives_up : clock_.Now() + Latency();
  if (!*outcome) return;
  if (!state_->Assume(pod, binding.node, clock_.Now() + seconds(30)).assumed) return;
  pod.node = binding.node;
  binding.is_bound = !binding.answer_lost;
  news_.push_back({clock_.Now() + Latency(), pod.uid});
  Note(fmt::format("{} is bound to {}", binding.name, binding.node));
}

void SchedulerModel::Fail(const std::string& name) {
  // The bind succeeded in spite of the error, and kube-scheduler's watch reports it.
  if (!pods_.at(name).pod.node.empty()) return;
  Note(fmt::format("the bind of {} has failed", name));
  Queued queued;
  queued.attempts = attempts_[name];
  queued.tried = clock_.Now();
  queue_[name] = queued;
}

void SchedulerModel::MoveAll() {
  for (auto& [name, queued] : queue_) queued.unschedulable = false;
}

Instant SchedulerModel::NextMoment() const {
  Instant next = next_look_;
  const auto consider = [&](Instant at) {
    if (at > clock_.Now()) next = std::min(next, at);
  };
  for (const auto& [name, queued] : queue_) {
    if (!queued.unschedulable) consider(ReadyAt(queued));
  }
  for (const Binding& binding : bindings_) {
    consider(binding.arrives);
    consider(binding.gives_up);
    consider(binding.answered);
    if (binding.bind != nullptr) consider(binding.bind->until);
  }
  for (const News& news : news_) consider(news.at);
  return next;
}

void SchedulerModel::CheckHolds() {
  std::map<std::string, Instant> held;
  for (const Reservation& place : state_->Reservations(ReservationKind::kGang)) {
    const std::string& uid = place.pod->uid;
    const auto known = held_since_.find(uid);
    held[uid] = known == held_since_.end() ? clock_.Now() : known->second;
    if (clock_.Now() - held[uid] > rules_.times.hold + kAfterHold)
      fault_ = fmt::format("the place of {} is held for too long", uid);
  }
  held_since_ = std::move(held);
}

void SchedulerModel::Note(std::string text) {
  const double at = std::chrono::duration<double>(clock_.Now().time_since_epoch()).count() - 3600;
  notes_.push_back(fmt::format("{:.2f} {}", at, text));
  // The beginning is the most useful part, and then the end.
  constexpr size_t kFirst = 100;
  constexpr size_t kMost = 130;
  if (notes_.size() > kMost) notes_.erase(notes_.begin() + kFirst);
}

std::string SchedulerModel::Describe() const {
  std::string text;
  for (const auto& [name, node] : nodes_) {
    text += fmt::format("\nnode {}: {} GPUs", name, node.allocatable.main.gpus.count());
    for (const auto& [key, value] : node.labels) text += fmt::format(" {}={}", key, value);
  }
  for (const auto& [name, pod] : pods_) {
    text += fmt::format("\npod {}: {} GPUs, on \"{}\", not to {}", name,
                        pod.pod.requests.main.gpus.count(), pod.pod.node,
                        fmt::join(pod.forbidden, " "));
  }
  return text + fmt::format("\n{}", fmt::join(notes_, "\n"));
}

}  // namespace synergy::extender
