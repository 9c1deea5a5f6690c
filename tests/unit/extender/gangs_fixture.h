#pragma once

// Helpers for tests of gangs through the extender's verbs, called as kube-scheduler calls them.

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "cluster/node_selection.h"
#include "unit/extender/extender_fixture.h"

namespace synergy::extender {

class GangsTest : public ExtenderTest {
 protected:
  static constexpr auto kHold = std::chrono::seconds(60);
  static constexpr auto kWait = std::chrono::seconds(12);

  static Pod Member(const std::string& gang, int number, int size = 2, int64_t gpus = 4) {
    Pod pod = MakePod(fmt::format("{}-{}", gang, number), gpus, gpus, gpus);
    pod.gang = std::make_shared<const Gang>(Gang{"default/" + gang, size, {}});
    return pod;
  }

  // Returns a request as kube-scheduler sends it.
  static std::string FilterArgs(const Pod& pod, const std::vector<std::string>& nodes) {
    std::string args = Args(pod, nodes);
    const std::string gang = pod.gang->name.substr(pod.gang->name.find('/') + 1);
    const std::string labels =
        fmt::format(R"("labels":{{"synergy.io/gang":"{}","synergy.io/gang-size":"{}"}},)", gang,
                    pod.gang->size);
    args.insert(args.find(R"("name":)"), labels);
    return args;
  }
  std::string Filter(const Pod& pod, const std::vector<std::string>& nodes = {"a"}) {
    return extender.Filter(FilterArgs(pod, nodes));
  }
  static std::string Passes(const std::string& node) {
    return fmt::format(R"("NodeNames":["{}"])", node);
  }
  std::vector<Pod> Create(const std::string& gang, int size = 2, int64_t gpus = 4) {
    std::vector<Pod> members;
    for (int i = 0; i < size; ++i) {
      members.push_back(Member(gang, i, size, gpus));
      Put(members.back());
    }
    return members;
  }
  void Put(const Pod& pod) {
    state.UpsertPod(pod);
    api.Put(pod);
  }
  // Returns a member without GPUs that may only go to node a.
  static Pod LauncherOnA(MilliCpu cpu) {
    NodeSelection selection;
    selection.has_affinity = true;
    selection.terms = {{{.key = "metadata.name",
                         .op = NodeRequirement::Operator::kIn,
                         .values = {"a"},
                         .is_field = true}}};
    Waiting waiting;
    waiting.selection = std::make_shared<const NodeSelection>(std::move(selection));
    Pod launcher = Member("g", 2, 3, 0);
    launcher.requests.main.cpu = cpu;
    launcher.waiting = std::make_shared<const Waiting>(std::move(waiting));
    return launcher;
  }
  MilliCpu FreeCpu(const std::string& node) const {
    const auto snapshot = state.Snapshot();
    return snapshot->node(*snapshot->Find(node)).Free().cpu;
  }
  // Returns the answer to a bind that waits for other members until it times out.
  std::string BindInVain(const Pod& pod, const std::string& node) {
    std::string answer;
    std::jthread binding([&] { answer = extender.Bind(BindArgs(pod, node)); });
    clock.AwaitSleepers(1);
    clock.Advance(kWait);
    binding.join();
    return answer;
  }
  // Returns the answers to binds of all of these pods that arrive at the same time.
  std::vector<std::string> BindAll(const std::vector<Pod>& pods,
                                   const std::vector<std::string>& nodes) {
    std::vector<std::string> answers(pods.size());
    std::vector<std::jthread> binding;
    for (size_t i = 0; i < pods.size(); ++i) {
      binding.emplace_back([&, i] { answers[i] = extender.Bind(BindArgs(pods[i], nodes[i])); });
      if (i + 1 < pods.size()) clock.AwaitSleepers(i + 1);
    }
    binding.back().join();
    clock.Advance(std::chrono::milliseconds(20));
    binding.clear();
    return answers;
  }
};

}  // namespace synergy::extender
