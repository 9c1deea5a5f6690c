#include "kube/succeeded_members.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <string>

#include <fmt/format.h>

#include "cluster/gang_name.h"
#include "cluster/labels.h"
#include "kube/deadline.h"

namespace synergy::kube {
namespace {

constexpr Duration kLongestAsk = std::chrono::seconds(2);

// Escapes text for a URL; among the characters in keys and values of labels, only the slash has a
// meaning there.
std::string Escape(std::string text) {
  for (size_t at = 0; (at = text.find('/', at)) != std::string::npos; at += 3)
    text.replace(at, 1, "%2F");
  return text;
}

}  // namespace

CountSucceeded AskForSucceeded(ApiClient& client, const wire::ObjectReader& reader,
                               const ClusterState& state, const Clock& clock, Logger& log) {
  return [&](const Pod& pod) -> size_t {
    const auto label = [&](std::string_view key) {
      return FindLabel(pod.labels, key).value_or(std::string_view());
    };
    const std::string key(GangLabelOf(label));
    if (key.empty()) return 0;
    const std::string path = fmt::format(
        "/api/v1/namespaces/{}/pods?labelSelector={}%3D{}&fieldSelector=status.phase%3DSucceeded",
        pod.pod_namespace, Escape(key), Escape(std::string(label(key))));
    const Deadline deadline(clock, kLongestAsk);
    const Result<std::string> text = client.Get(path, deadline.token());
    const auto page =
        text ? reader.ReadList<Pod>(*text) : Result<wire::ListPage<Pod>>(Fail(text.error()));
    if (!page) {
      log.Warn("cannot read which members of a gang have Succeeded",
               {{"gang", pod.gang->name}, {"error", page.error().message}});
      return 0;
    }
    std::set<std::string> runs = {pod.gang->run};
    for (const GangMember& member : state.GangMembers(pod.gang->name))
      runs.insert(member.pod->gang->run);
    return static_cast<size_t>(
        std::count_if(page->items.begin(), page->items.end(), [&](const Pod& member) {
          return member.succeeded && !member.deleting && member.gang != nullptr &&
                 member.gang->name == pod.gang->name && member.gang->size == pod.gang->size &&
                 runs.contains(member.gang->run);
        }));
  };
}

}  // namespace synergy::kube
