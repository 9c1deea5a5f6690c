#include "wire/objects/resize_status.h"

#include <chrono>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/wall_time.h"
#include "wire/objects/objects.h"
#include "wire/pods/pod_writes.h"

namespace synergy::wire {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// A real node's answer from the API server, shortened.
constexpr const char* kShrinking = R"({
  "metadata": {"name": "cached", "namespace": "team", "uid": "06508744-683a", "generation": 2,
    "annotations": {"synergy.io/demand": "{}"}, "resourceVersion": "7"},
  "spec": {"nodeName": "node-1",
    "initContainers": [
      {"name": "setup", "resources": {"limits": {"memory": "1Gi"}}},
      {"name": "logs", "restartPolicy": "Always", "resources": {"limits": {"memory": "20Mi"}}}],
    "containers": [
      {"name": "train", "resources": {"limits": {"memory": "100Mi"}}},
      {"name": "free", "resources": {}}]},
  "status": {"phase": "Running", "qosClass": "Burstable",
    "conditions": [
      {"type": "Ready", "status": "True"},
      {"type": "PodResizePending", "status": "False", "reason": "Deferred"},
      {"type": "PodResizeInProgress", "status": "True", "reason": "Error",
       "message": "cannot decrease memory limits"}],
    "initContainerStatuses": [
      {"name": "logs", "containerID": "containerd://1f", "resources": {"limits": {"memory": "20Mi"}}}],
    "containerStatuses": [
      {"name": "train", "containerID": "containerd://4f6d", "resources": {"limits": {"memory": "200Mi"}}},
      {"name": "unheard-of"}]}})";

WatchEvent<ResizeStatus> ReadModified(const std::string& object) {
  const auto event =
      ObjectReader("nvidia.com/gpu")
          .ReadWatchEvent<ResizeStatus>(R"({"type":"MODIFIED","object":)" + object + "}");
  EXPECT_TRUE(event) << event.error().message;
  return event.value_or(WatchEvent<ResizeStatus>{});
}

TEST(ResizeStatusTest, HasRequestedAndEnforcedAmounts) {
  const WatchEvent<ResizeStatus> event = ReadModified(kShrinking);
  EXPECT_THAT(event.problems, IsEmpty());
  const ResizeStatus& pod = event.object;
  EXPECT_EQ(pod.Key(), "team/cached");
  EXPECT_EQ(pod.uid, "06508744-683a");
  EXPECT_EQ(pod.node, "node-1");
  EXPECT_EQ(pod.generation, 2);
  EXPECT_EQ(pod.qos_class, QosClass::kBurstable);
  EXPECT_TRUE(pod.managed);
  EXPECT_FALSE(pod.terminal);
  ASSERT_THAT(pod.containers, SizeIs(3));
  EXPECT_EQ(pod.containers[0].name, "train");
  EXPECT_EQ(pod.containers[0].id, "containerd://4f6d");
  EXPECT_EQ(pod.containers[0].memory_limit, MiB(100));
  EXPECT_EQ(pod.containers[0].memory_limit_in_force, MiB(200));
  EXPECT_EQ(pod.containers[1].name, "free");
  EXPECT_EQ(pod.containers[1].memory_limit, std::nullopt);
  EXPECT_EQ(pod.containers[2].name, "logs");
  EXPECT_EQ(pod.containers[2].memory_limit_in_force, MiB(20));
  ASSERT_TRUE(pod.resize_in_progress);
  EXPECT_EQ(pod.resize_in_progress->reason, "Error");
  EXPECT_EQ(pod.resize_in_progress->message, "cannot decrease memory limits");
  EXPECT_FALSE(pod.resize_pending);
}

TEST(ResizeStatusTest, HasTheRunThatEndedLast) {
  const auto read = [](const std::string& status) {
    return ReadModified(R"({"metadata":{"name":"p","uid":"u","resourceVersion":"1"},)"
                        R"("spec":{"containers":[{"name":"train"}]},"status":{"containerStatuses":)"
                        R"([{"name":"train","containerID":"c3","restartCount":3,)" +
                        status + "}]}}")
        .object.containers.at(0);
  };
  EXPECT_EQ(read(R"("state":{"running":{}})").ended_run, std::nullopt);
  const auto ended = read(R"("state":{"terminated":{"exitCode":2,"containerID":"c3"}},)"
                          R"("lastState":{"terminated":{"exitCode":1,"containerID":"c2"}})");
  EXPECT_EQ(ended.restarts, 3);
  EXPECT_EQ(ended.ended_run, 3);
  EXPECT_EQ(ended.exit_code, 2);
  const auto runs_again = read(
      R"("state":{"running":{}},"lastState":{"terminated":{"exitCode":1,"containerID":"c2"}})");
  EXPECT_EQ(runs_again.ended_run, 2);
  EXPECT_EQ(runs_again.exit_code, 1);
  const auto waits = read(R"("state":{"waiting":{"reason":"CrashLoopBackOff"}},)"
                          R"("lastState":{"terminated":{"exitCode":2,"containerID":"c3"}})");
  EXPECT_EQ(waits.ended_run, 3);
}

TEST(ResizeStatusTest, OnlyTheAnnotationsMakeAPodOurs) {
  const auto managed = [](const std::string& annotations) {
    return ReadModified(
               R"({"metadata":{"name":"p","uid":"u","resourceVersion":"1","annotations":)" +
               annotations + "}}")
        .object.managed;
  };
  EXPECT_TRUE(managed(R"({"synergy.io/profile":"resnet18"})"));
  EXPECT_TRUE(managed(R"({"synergy.io/demand":"whatever"})"));
  EXPECT_FALSE(managed(R"({"synergy.io/fungible":"false"})"));
  EXPECT_FALSE(managed("null"));
}

// If annotations alone counted, any writer could have the caches of other pods dropped.
TEST(ResizeStatusTest, APodOfOursWithGpusHasAShare) {
  const auto has_share = [](const std::string& scheduler, const std::string& resource,
                            const std::string& labels = "") {
    return ReadModified(
               R"({"metadata":{"name":"p","uid":"u","resourceVersion":"1","labels":{)" + labels +
               R"(},"annotations":{"synergy.io/container":"train",)"
               R"("synergy.io/demand":"{\"cpu\":\"6\",\"memory\":\"8Gi\"}",)"
               R"("synergy.io/floor":"{\"cpu\":\"2\",\"memory\":\"8Gi\"}"}},)"
               R"("spec":{"schedulerName":")" +
               scheduler + R"(","containers":[{"name":"train","resources":{"requests":{")" +
               resource + R"(":"1"}}}]}})")
        .object.has_share;
  };
  EXPECT_TRUE(has_share("synergy-scheduler", "nvidia.com/gpu"));
  EXPECT_FALSE(has_share("synergy-scheduler", "cpu"));
  EXPECT_FALSE(has_share("default-scheduler", "nvidia.com/gpu"));
  EXPECT_FALSE(
      has_share("synergy-scheduler", "nvidia.com/gpu", R"("synergy.io/fungible":"false")"));
}

TEST(ResizeStatusTest, APodOfOursWithoutGpusIsALauncher) {
  const auto is_launcher = [](const std::string& scheduler, const std::string& resource) {
    return ReadModified(
               R"({"metadata":{"name":"p","uid":"u","resourceVersion":"1"},"spec":{"schedulerName":")" +
               scheduler + R"(","containers":[{"name":"train","resources":{"requests":{")" +
               resource + R"(":"1"}}}]}})")
        .object.is_launcher;
  };
  EXPECT_TRUE(is_launcher("synergy-scheduler", "cpu"));
  EXPECT_FALSE(is_launcher("default-scheduler", "cpu"));
  for (const char* const resource :
       {"nvidia.com/gpu", "nvidia.com/gpu.shared", "nvidia.com/gpu.turns"})
    EXPECT_FALSE(is_launcher("synergy-scheduler", resource)) << resource;
}

TEST(ResizeStatusTest, AnnotationsLocateTheProgress) {
  const auto read = [](const std::string& annotations, const std::string& more = "") {
    return ReadModified(
               R"({"metadata":{"name":"p","uid":"u","resourceVersion":"1","annotations":)" +
               annotations + R"(},"spec":{"containers":[{"name":"c"}])" + more +
               R"(},"status":{"podIP":"10.0.0.7"}})")
        .object;
  };
  const ResizeStatus counted =
      read(R"({"synergy.io/progress-counter":"steps_total","synergy.io/progress-port":"8000",)"
           R"("synergy.io/progress-path":"/m"})");
  EXPECT_EQ(counted.progress, (ResizeStatus::ProgressSource{"", "steps_total", 8000, "/m"}));
  EXPECT_EQ(counted.ip, "10.0.0.7");
  EXPECT_EQ(
      read(R"({"synergy.io/progress-pattern":"step (?P<iteration>[0-9]+) done"})").progress.pattern,
      "step (?P<iteration>[0-9]+) done");
  EXPECT_EQ(read("{}").progress, ResizeStatus::ProgressSource{});
  EXPECT_TRUE(read(R"({"synergy.io/progress-file":"true"})").progress.file);
  EXPECT_FALSE(read(R"({"synergy.io/progress-file":"/etc/shadow"})").progress.file);
  EXPECT_FALSE(read(R"({"synergy.io/progress-port":"eighty"})").progress.port);
  EXPECT_FALSE(read(R"({"synergy.io/progress-port":"80800"})").progress.port);
  EXPECT_EQ(read("{}", R"(,"hostNetwork":true)").ip, "");
}

// A probe slows the pod down, so only Synergy may write it.
TEST(ResizeStatusTest, AProbeCountsWhereSynergyHasWrittenIt) {
  const auto read = [](const std::string& manager, const std::string& more = "",
                       const std::string& probe =
                           R"({\"cpu\":\"75m\",\"until\":\"2026-11-21T07:05:20Z\"})") {
    return ReadModified(
               R"({"metadata":{"name":"p","uid":"u","resourceVersion":"1","managedFields":[{"manager":")" +
               manager + R"(","operation":"Update","time":"2026-11-21T07:05:00Z")" + more +
               R"(,"fieldsV1":{"f:metadata":{"f:annotations":{"f:synergy.io/probe":{}}}}}],)" +
               R"("annotations":{"synergy.io/container":"train",)"
               R"("synergy.io/demand":"{\"cpu\":\"6\",\"memory\":\"8Gi\"}",)"
               R"("synergy.io/floor":"{\"cpu\":\"2\",\"memory\":\"8Gi\"}",)"
               R"("synergy.io/probe":")" +
               probe + R"("}},"spec":{"containers":[{"name":"train"}]}})")
        .object.fungible->probe;
  };
  const std::optional<CpuProbe> probe = read("synergy");
  ASSERT_TRUE(probe);
  EXPECT_EQ(probe->cpu, MilliCpu(75));
  EXPECT_EQ(ToTimeText(probe->until), "2026-11-21T07:05:20.000000Z");
  EXPECT_FALSE(probe->burst);
  EXPECT_TRUE(
      read("synergy", "", R"({\"cpu\":\"280m\",\"until\":\"2026-11-21T07:05:20Z\",\"burst\":true})")
          ->burst);
  EXPECT_FALSE(read("kubectl-annotate"));
  EXPECT_FALSE(read("synergy", R"(,"subresource":"resize")"));
  EXPECT_FALSE(read("synergy", "", "soon"));
  EXPECT_FALSE(read("synergy", "", R"({\"cpu\":\"0\",\"until\":\"2026-11-21T07:05:20Z\"})"));
}

TEST(ResizeStatusTest, ATurnCountsWhereSynergyHasWrittenIt) {
  const auto read = [](const std::string& manager, const std::string& turn) {
    std::string escaped;
    for (const char c : turn) escaped += c == '"' ? std::string("\\\"") : std::string(1, c);
    return ReadModified(
               R"({"metadata":{"name":"p","uid":"u","resourceVersion":"1","managedFields":[{"manager":")" +
               manager + R"(","operation":"Update","time":"2026-11-21T07:05:00Z")" +
               R"(,"fieldsV1":{"f:metadata":{"f:annotations":{"f:synergy.io/turn":{}}}}}],)" +
               R"("annotations":{"synergy.io/container":"train",)"
               R"("synergy.io/demand":"{\"cpu\":\"6\",\"memory\":\"8Gi\"}",)"
               R"("synergy.io/floor":"{\"cpu\":\"2\",\"memory\":\"8Gi\"}",)"
               R"("synergy.io/turn":")" +
               escaped + R"("}},"spec":{"containers":[{"name":"train"}]}})")
        .object.fungible->turn;
  };
  using std::chrono::seconds;
  const GpuTurn turn{*ParseTime("2026-11-21T07:05:20.5Z"),
                     seconds(220),
                     {{seconds(0), seconds(55)}, {seconds(110), seconds(165)}},
                     {"b", "c"}};
  EXPECT_EQ(read("synergy", WriteTurn(turn)), turn);
  const GpuTurn packed{turn.epoch, seconds(60), {{seconds(0), seconds(60)}}, {}, "b"};
  EXPECT_EQ(read("synergy", WriteTurn(packed)), packed);
  EXPECT_FALSE(read("kubectl-annotate", WriteTurn(turn)));
  GpuTurn too_long = turn;
  too_long.runs.pop_back();  // suspended for 165 s
  EXPECT_FALSE(read("synergy", WriteTurn(too_long)));
  for (const char* odd :
       {"soon", "{}", R"({"epoch":"2026-11-21T07:05:20Z","cycleMs":60000})",
        R"({"epoch":"2026-11-21T07:05:20Z","cycleMs":99999999999,"runsMs":[[0,60000]]})",
        R"({"epoch":"2026-11-21T07:05:20Z","cycleMs":60000,"runsMs":[[0]]})",
        R"({"epoch":"2026-11-21T07:05:20Z","cycleMs":60000,"runsMs":[[0,1,2]]})",
        R"({"epoch":"2026-11-21T07:05:20Z","cycleMs":60000,"runsMs":[[30000,0]]})"}) {
    EXPECT_FALSE(read("synergy", odd)) << odd;
  }
}

TEST(ResizeStatusTest, HasTheAuthorsWishesForPacking) {
  const auto read = [](const std::string& annotations) {
    return *ReadModified(R"({"metadata":{"name":"p","uid":"u","resourceVersion":"1",)"
                         R"("annotations":{"synergy.io/container":"train",)"
                         R"("synergy.io/demand":"{\"cpu\":\"6\",\"memory\":\"8Gi\"}",)"
                         R"("synergy.io/floor":"{\"cpu\":\"2\",\"memory\":\"8Gi\"}")" +
                         annotations + R"(}},"spec":{"containers":[{"name":"train"}]}})")
                .object.fungible;
  };
  const ManagedContainer both =
      read(R"(,"synergy.io/packing":"true","synergy.io/gpu-memory":"6Gi")");
  EXPECT_TRUE(both.may_pack);
  EXPECT_EQ(both.gpu_memory, GiB(6));
  const ManagedContainer none = read("");
  EXPECT_FALSE(none.may_pack);
  EXPECT_EQ(none.gpu_memory, std::nullopt);
  EXPECT_FALSE(read(R"(,"synergy.io/packing":"yes")").may_pack);
  for (const char* odd : {"lots", "0", "-1Gi"}) {
    const std::string text = std::string(R"(,"synergy.io/gpu-memory":")") + odd + '"';
    EXPECT_EQ(read(text).gpu_memory, std::nullopt) << odd;
  }
}

TEST(ResizeStatusTest, HasWhatASuspensionDependsOn) {
  const ResizeStatus plain = ReadModified(kShrinking).object;
  EXPECT_EQ(plain.gpus_in_turns, 0);
  EXPECT_FALSE(plain.disrupted || plain.in_gang || plain.allows_suspension);
  EXPECT_FALSE(plain.containers[0].running);
  EXPECT_EQ(plain.containers[0].probe_patience, std::nullopt);

  const ResizeStatus pod = ReadModified(R"({
    "metadata": {"name": "a", "namespace": "team", "labels": {"synergy.io/gang": "g", "synergy.io/gang-size": "2"},
      "annotations": {"synergy.io/suspend": "true"}},
    "spec": {"containers": [{"name": "train",
      "resources": {"requests": {"nvidia.com/gpu.turns": "2"}, "limits": {"nvidia.com/gpu.turns": "2"}},
      "startupProbe": {"tcpSocket": {"port": 1}, "periodSeconds": 1, "failureThreshold": 1},
      "readinessProbe": {"exec": {}},
      "livenessProbe": {"httpGet": {}, "periodSeconds": 5, "failureThreshold": 4, "timeoutSeconds": 2}}]},
    "status": {"phase": "Running", "conditions": [{"type": "DisruptionTarget", "status": "True"}],
      "containerStatuses": [{"name": "train", "containerID": "containerd://1", "state": {"running": {}}}]}})")
                               .object;
  EXPECT_EQ(pod.gpus_in_turns, 2);
  EXPECT_TRUE(pod.disrupted && pod.in_gang && pod.allows_suspension);
  EXPECT_TRUE(pod.containers[0].running);
  EXPECT_EQ(pod.containers[0].probe_patience, std::chrono::seconds(1)) << "of the TCP probe";
}

TEST(ResizeStatusTest, TheLongestPatienceOfProbesIsADay) {
  const auto patience = [](const std::string& each) {
    return ReadModified(R"({"metadata":{"name":"p","uid":"u","resourceVersion":"1"},"spec":)"
                        R"({"containers":[{"name":"c","livenessProbe":{"periodSeconds":)" +
                        each + R"(,"failureThreshold":)" + each + "}}]}}")
        .object.containers[0]
        .probe_patience;
  };
  EXPECT_EQ(patience("100"), std::chrono::seconds(9901));
  EXPECT_EQ(patience("100000"), std::chrono::hours(24));
  EXPECT_EQ(patience("1000000"), std::chrono::hours(24));
}

TEST(ResizeStatusTest, OddFieldsAreReportedAndReadAsAbsent) {
  const WatchEvent<ResizeStatus> event = ReadModified(
      R"({"metadata":{"name":"p","uid":"u","resourceVersion":"1"},"spec":{"containers":[)"
      R"({"name":"c","resources":{"limits":{"memory":"lots"}}},3]}})");
  EXPECT_THAT(event.problems, ElementsAre(HasSubstr("limits.memory: \"lots\" is not a quantity"),
                                          HasSubstr("containers[1]: must be an object")));
}

TEST(ResizeStatusTest, ListsHaveThemToo) {
  const auto page = ObjectReader("nvidia.com/gpu")
                        .ReadList<ResizeStatus>(
                            R"({"kind":"PodList","metadata":{"resourceVersion":"9"},"items":[)" +
                            std::string(kShrinking) + "]}");
  ASSERT_TRUE(page) << page.error().message;
  ASSERT_THAT(page->items, SizeIs(1));
  EXPECT_EQ(page->items[0].name, "cached");
}

TEST(ReadResizeStatus, ReadsWhatSynergyMayChangeAndWhichStorageOthersMayRead) {
  const auto list = ObjectReader().ReadList<ResizeStatus>(
      R"({"kind":"PodList","apiVersion":"v1","metadata":{},"items":[{
        "metadata":{"uid":"u","name":"p","namespace":"team","annotations":{"synergy.io/container":"train",
          "synergy.io/demand":"{\"cpu\":\"6\",\"memory\":\"16Gi\"}",
          "synergy.io/floor":"{\"cpu\":\"2\",\"memory\":\"8Gi\"}","synergy.io/enforcement":"strict"}},
        "spec":{"containers":[{"name":"train","resources":{"requests":{"cpu":"3","memory":"12Gi"}}}],
          "volumes":[{"name":"a","persistentVolumeClaim":{"claimName":"data"}},{"name":"b","hostPath":{"path":"/mnt/d"}},
            {"name":"c","hostPath":{"path":"/dev/shm"}},{"name":"d","nfs":{"server":"s","path":"/x"}},
            {"name":"e","emptyDir":{}}]}}]})");
  ASSERT_TRUE(list) << list.error().message;
  ASSERT_EQ(list->items.size(), 1u);
  const ResizeStatus& pod = list->items.front();
  ASSERT_TRUE(pod.fungible);
  EXPECT_EQ(pod.fungible->requested.memory, GiB(12));
  EXPECT_EQ(pod.fungible->floor.memory, GiB(8));
  EXPECT_EQ(pod.fungible->enforcement, Enforcement::kStrict);
  EXPECT_EQ(pod.storage, (std::vector<std::string>{"claim team/data", "/mnt/d", "s:/x"}));
  EXPECT_EQ(list->problems, std::vector<std::string>{});
}

}  // namespace
}  // namespace synergy::wire
