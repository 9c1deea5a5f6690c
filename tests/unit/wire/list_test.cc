#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "wire/objects/objects.h"

namespace synergy::wire {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const ObjectReader& ListReader() {
  static const ObjectReader reader("nvidia.com/gpu");
  return reader;
}

TEST(Lists, GiveTheirItemsAndHowToGoOn) {
  const auto page = ListReader().ReadList<Pod>(
      R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"4711","continue":"abc","remainingItemCount":3},
          "items":[{"metadata":{"name":"a","namespace":"x","uid":"1"}},{"metadata":{"name":"b","namespace":"x","uid":"2"}}]})");
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_EQ(page->resource_version, "4711");
  EXPECT_EQ(page->continue_token, "abc");
  ASSERT_THAT(page->items, SizeIs(2));
  EXPECT_EQ(page->items[1].Key(), "x/b");
  EXPECT_THAT(page->problems, IsEmpty());
}

TEST(Lists, MayBeEmpty) {
  for (const std::string_view text : {R"({"items":[],"metadata":{"resourceVersion":"1"}})",
                                      R"({"items":null})", R"({"metadata":{}})", R"({})"}) {
    const auto page = ListReader().ReadList<Node>(std::string(text));
    ASSERT_TRUE(page) << text;
    EXPECT_THAT(page->items, IsEmpty());
    EXPECT_THAT(page->problems, IsEmpty());
    EXPECT_TRUE(page->continue_token.empty());
  }
}

TEST(Lists, CountPodsAsTheyStandOnTheirNodes) {
  const auto page = ListReader().ReadList<Pod>(
      R"({"items":[{"metadata":{"name":"a","uid":"1"},"spec":{"containers":[{"name":"c"}]},
          "status":{"containerStatuses":[{"name":"c","resources":{"requests":{"cpu":"3"}}}]}}]})");
  ASSERT_TRUE(page);
  EXPECT_EQ(page->items.front().requests.main.cpu, Cores(3));
}

TEST(Lists, ObjectWithABadFieldComesWithItsProblem) {
  const auto page = ListReader().ReadList<Pod>(
      R"({"items":[{"metadata":{"name":"a","namespace":"x","uid":"1","annotations":{"synergy.io/demand":"?"}},
                    "spec":{"nodeName":"n","containers":[{"resources":{"requests":{"cpu":"12x","memory":"1Gi","nvidia.com/gpu":"1"}}}]}},
                   {"metadata":{"name":"b","namespace":"x","uid":"2"}}]})");
  ASSERT_TRUE(page);
  ASSERT_THAT(page->items, SizeIs(2));
  EXPECT_EQ(page->items[0].node, "n");
  EXPECT_EQ(page->items[0].requests.main, (ResourceVector{Gpus(1), MilliCpu(0), GiB(1)}));
  EXPECT_FALSE(page->items[0].demand);
  EXPECT_THAT(
      page->problems,
      ElementsAre(
          R"(pod x/a: spec.containers[0].resources.requests.cpu: "12x" is not a quantity)",
          R"(pod x/a: metadata.annotations["synergy.io/demand"]: not JSON at byte 0: Invalid value.)"));
}

TEST(Lists, ReportObjectsWithoutIdentity) {
  const auto pods = ListReader().ReadList<Pod>(
      R"({"items":[{},{"metadata":{"name":"a"}},{"metadata":{"uid":"1"}},{"metadata":1}]})");
  ASSERT_TRUE(pods);
  EXPECT_THAT(pods->items, SizeIs(4));
  EXPECT_THAT(
      pods->problems,
      ElementsAre("pod without a name: metadata: is missing", "pod a: metadata.uid: is missing",
                  "pod without a name: metadata.name: is missing",
                  "pod without a name: metadata: must be an object, not a number"));
  const auto nodes = ListReader().ReadList<Node>(R"({"items":[{"metadata":{"name":"a"}}]})");
  ASSERT_TRUE(nodes);
  EXPECT_THAT(nodes->problems, IsEmpty());
}

TEST(Lists, LeaveOutItemsThatAreNoObjects) {
  const auto page = ListReader().ReadList<Node>(R"({"items":[null,{"metadata":{"name":"a"}},5]})");
  ASSERT_TRUE(page);
  EXPECT_THAT(page->items, SizeIs(1));
  EXPECT_THAT(page->problems, ElementsAre("items[0]: must be an object, not null",
                                          "items[2]: must be an object, not a number"));
}

TEST(Lists, ListAFewProblemsPerObjectAndCountTheRest) {
  std::string containers;
  for (int i = 0; i < 100; ++i) containers += R"({"resources":{"requests":{"cpu":"x"}}},)";
  const auto page = ListReader().ReadList<Pod>(fmt::format(
      R"({{"items":[{{"metadata":{{"name":"a","uid":"1"}},"spec":{{"containers":[{}{{}}]}}}}]}})",
      containers));
  ASSERT_TRUE(page);
  ASSERT_THAT(page->problems, SizeIs(9));
  EXPECT_EQ(page->problems.back(), "pod a: and 92 more");
}

TEST(Lists, RefuseOtherText) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"", "not JSON at byte 0: The document is empty."},
      {"[]", "must be an object, not an array"},
      {R"({"items":{}})", "items: must be an array, not an object"},
      {R"({"metadata":{"continue":1}})", "metadata.continue: must be a string, not a number"},
  };
  for (const auto& [text, message] : cases) {
    const auto page = ListReader().ReadList<Pod>(std::string(text));
    ASSERT_FALSE(page) << text;
    EXPECT_EQ(page.error().code, ErrorCode::kInvalid);
    EXPECT_EQ(page.error().message, message);
  }
}

TEST(Lists, TurnAStatusIntoItsError) {
  const auto page = ListReader().ReadList<Pod>(
      R"({"kind":"Status","code":410,"reason":"Expired","message":"too old resource version"})");
  ASSERT_FALSE(page);
  EXPECT_EQ(page.error().code, ErrorCode::kGone);
  EXPECT_EQ(page.error().message, "too old resource version");
}

std::string Deep(int levels) {
  std::string text;
  for (int i = 0; i < levels; ++i) text += R"({"f:x":)";
  return text + "{}" + std::string(static_cast<size_t>(levels), '}');
}

std::string PodItem(std::string_view name, std::string_view metadata = "",
                    std::string_view spec = "") {
  return fmt::format(
      R"({{"metadata":{{"name":"{0}","namespace":"x","uid":"{0}"{1}}},"spec":{{"nodeName":"n"{2},)"
      R"("containers":[{{"name":"c","resources":{{"requests":{{"cpu":"3"}}}}}}]}}}})",
      name, metadata, spec);
}

std::string ListText(const std::vector<std::string>& items) {
  return fmt::format(R"({{"items":[{}]}})", fmt::join(items, ","));
}

TEST(Lists, UnusedMembersMayNestDeeply) {
  const std::string managed = R"(,"managedFields":[{"fieldsV1":)" + Deep(100'000) + "}]";
  for (const std::string& metadata : {managed, R"(,"other":)" + Deep(70)}) {
    const auto page = ListReader().ReadList<Pod>(ListText({PodItem("a", metadata), PodItem("b")}));
    ASSERT_TRUE(page) << page.error().message;
    EXPECT_THAT(page->problems, IsEmpty());
    EXPECT_THAT(page->unread, IsEmpty());
    ASSERT_THAT(page->items, SizeIs(2));
    EXPECT_EQ(page->items[0].requests.main.cpu, Cores(3));
  }
}

TEST(Lists, OnlyAnnotationsInManagedFieldsCount) {
  // managedFields must not count, whatever their size.
  std::string fields;
  for (int i = 0; i < 100'000; ++i) fields += fmt::format(R"("f:{}":{{}},)", i);
  const auto page = ListReader().ReadList<Pod>(ListText(
      {PodItem("a", R"(,"managedFields":[{"fieldsV1":{"f:spec":{)" + fields + R"("f:x":{}}}}])")}));
  ASSERT_TRUE(page);
  EXPECT_THAT(page->unread, IsEmpty());
  EXPECT_THAT(page->items, SizeIs(1));
}

// The member may be at any position in the object.
TEST(Lists, TooLargePodStillHasItsAmounts) {
  std::string labels = R"(,"labels":{)";
  std::string values =
      R"(,"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":)"
      R"({"nodeSelectorTerms":[{"matchExpressions":[{"key":"k","operator":"In","values":[)";
  std::string numbers = R"(,"volumes":[)";
  for (int i = 0; i < 70'000; ++i) {
    labels += fmt::format(R"("l{}":"x",)", i);
    values += fmt::format(R"("v{}",)", i);
    numbers += "0,";
  }
  labels += R"("z":"x"})";
  values += R"("z"]}]}]}}})";
  numbers += "0]";
  for (const auto& [metadata, spec] : std::vector<std::pair<std::string, std::string>>{
           {labels, ""}, {"", values}, {"", numbers}}) {
    const auto page = ListReader().ReadList<Pod>(
        ListText({PodItem("a"), PodItem("b", metadata, spec), PodItem("c")}));
    ASSERT_TRUE(page) << page.error().message;
    EXPECT_THAT(page->items, SizeIs(2));
    ASSERT_THAT(page->unread, SizeIs(1));
    EXPECT_EQ(page->unread[0].name, "pod x/b");
    EXPECT_EQ(page->unread[0].why, "more than 65536 values");
    const Pod& pod = page->unread[0].object;
    EXPECT_EQ(pod.Key(), "x/b");
    EXPECT_EQ(pod.uid, "b");
    EXPECT_EQ(pod.node, "n");
    EXPECT_EQ(pod.requests.main.cpu, Cores(3));
    EXPECT_THAT(pod.labels, IsEmpty());
  }
}

TEST(Lists, ObjectsAreBounded) {
  std::string labels = R"(,"labels":{"a":"x")";
  for (int i = 0; i < 1000; ++i) labels += fmt::format(R"(,"l{}":"x")", i);
  const auto page = ListReader().ReadList<Pod>(ListText({PodItem("a", labels + "}")}));
  ASSERT_TRUE(page);
  ASSERT_THAT(page->unread, SizeIs(1));
  EXPECT_EQ(page->unread[0].why, "more than 1000 labels");
  EXPECT_EQ(page->unread[0].object.requests.main.cpu, Cores(3));
}

TEST(Lists, WarningsAreBoundedAsTheWebhookWritesThem) {
  const auto page = ObjectReader("cpu").ReadList<Pod>(
      ListText({PodItem("a", R"(,"annotations":{"synergy.io/warnings":")" +
                                 std::string(250'000, 'x') + R"("})"),
                PodItem(
                    "b", R"(,"annotations":{"synergy.io/warnings":")" + [] {
                      std::string lines;
                      for (int i = 0; i < 100'000; ++i) lines += R"(\n)";
                      return lines;
                    }() + R"("})")}));
  ASSERT_TRUE(page) << page.error().message;
  ASSERT_THAT(page->items, SizeIs(2));
  ASSERT_THAT(page->items[0].warnings, SizeIs(1));
  EXPECT_THAT(page->items[0].warnings[0], SizeIs(2048));
  EXPECT_THAT(page->items[1].warnings, SizeIs(16));
}

TEST(Lists, CanBeLarge) {
  std::string items;
  constexpr int kPods = 20'000;
  for (int i = 0; i < kPods; ++i) {
    items +=
        fmt::format(R"({}{{"metadata":{{"name":"pod-{}","uid":"{}"}}}})", i == 0 ? "" : ",", i, i);
  }
  const auto page = ListReader().ReadList<Pod>(R"({"items":[)" + items + "]}");
  ASSERT_TRUE(page);
  ASSERT_THAT(page->items, SizeIs(kPods));
  EXPECT_EQ(page->items.back().name, "pod-19999");
}

}  // namespace
}  // namespace synergy::wire
