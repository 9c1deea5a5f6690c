#include "wire/pods/gpu_reservation.h"

#include <chrono>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/wall_time.h"
#include "json/text.h"
#include "wire/objects/objects.h"

namespace synergy::wire {
namespace {

using std::chrono::seconds;

WallTime At(std::string_view clock) { return *ParseTime(fmt::format("2026-11-21T{}Z", clock)); }

PublishedReservation Reserved() {
  return {.job = "gang team/big",
          .priority = -5,
          .places = {{"gpu-1", Gpus(8), Cores(24), GiB(64)}, {"gpu-2", Gpus(4)}},
          .earliest = At("13:50:00"),
          .likely = At("14:20:00"),
          .latest = At("15:10:00"),
          .waits_for = {"team/train-a"},
          .until = At("13:10:00")};
}

// A pod with the reservation, which `manager` wrote at 13:05.
std::string ReservedPodText(std::string_view manager, std::string_view value,
                            std::string_view spec = R"("schedulerName":"synergy-scheduler")",
                            std::string_view status = "{}") {
  std::string quoted;
  json::AppendJsonString(quoted, value);
  return fmt::format(
      R"({{"metadata":{{"uid":"u","name":"p","namespace":"team","annotations":)"
      R"({{"synergy.io/gpu-reservation":{}}},"managedFields":[{{"manager":"{}",)"
      R"("operation":"Update","time":"2026-11-21T13:05:00Z","fieldsV1":{{"f:metadata":)"
      R"({{"f:annotations":{{"f:synergy.io/gpu-reservation":{{}}}}}}}}}}]}},)"
      R"("spec":{{{}}},"status":{}}})",
      quoted, manager, spec, status);
}

PodTimes TimesOf(const std::string& pod) {
  const auto page =
      ObjectReader("nvidia.com/gpu").ReadList<PodTimes>(R"({"metadata":{},"items":[)" + pod + "]}");
  EXPECT_TRUE(page) << page.error().message;
  EXPECT_EQ(page->items.size(), 1u);
  return page->items.at(0);
}

TEST(GpuReservationTest, IsReadAsItWasWritten) {
  EXPECT_EQ(ReadGpuReservation(WriteGpuReservation(Reserved())), Reserved());
  PublishedReservation at_once = Reserved();
  at_once.waits_for.clear();
  EXPECT_EQ(ReadGpuReservation(WriteGpuReservation(at_once)), at_once);
}

TEST(GpuReservationTest, AnOlderControllersOneHasNoCpuAndMemory) {
  PublishedReservation reserved = Reserved();
  std::string text = WriteGpuReservation(reserved);
  for (const std::string_view left_out :
       {R"(,"milliCpu":24000,"memory":68719476736)", R"(,"milliCpu":0,"memory":0)"}) {
    const size_t at = text.find(left_out);
    ASSERT_NE(at, std::string::npos) << text;
    text.erase(at, left_out.size());
  }
  reserved.places.front() = {"gpu-1", Gpus(8)};
  EXPECT_EQ(ReadGpuReservation(text), reserved);
}

TEST(GpuReservationTest, IsNoneIfAnythingOfItIsWrong) {
  const std::string whole = WriteGpuReservation(Reserved());
  const std::pair<std::string_view, std::string_view> changes[] = {
      {R"("gang team/big")", R"("")"},
      {R"("gpus":8)", R"("gpus":0)"},
      {R"("gpus":8)", R"("gpus":"8")"},
      {R"("gpus":8)", R"("gpus":10000000)"},
      {R"("milliCpu":24000)", R"("milliCpu":-1)"},
      {R"("memory":0)", R"("memory":"64Gi")"},
      {R"("node":"gpu-1",)", ""},
      {R"("places":[)", R"("places":[7,)"},
      {R"("earliest":"2026-11-21T13:50)", R"("earliest":"2026-11-21T14:50)"},
      {R"("latest":"2026-11-21T15:10)", R"("latest":"soon)"},
      {R"("waitsFor":["team/train-a"])", R"("waitsFor":[""])"},
      {R"("until":)", R"("Until":)"},
      {R"("priority":-5)", R"("priority":"high")"},
      {"{", "["},
  };
  for (const auto& [from, to] : changes) {
    std::string text = whole;
    const size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    EXPECT_FALSE(ReadGpuReservation(text)) << text;
  }
  PublishedReservation large = Reserved();
  large.places.assign(257, {"n", Gpus(1)});
  EXPECT_FALSE(ReadGpuReservation(WriteGpuReservation(large)));
  large = Reserved();
  large.places.clear();
  EXPECT_FALSE(ReadGpuReservation(WriteGpuReservation(large)));
  large.places.assign(1, {std::string(200'000, 'n'), Gpus(1)});
  EXPECT_FALSE(ReadGpuReservation(WriteGpuReservation(large)));
}

TEST(GpuReservationTest, CountsOnlyBySynergyOnPodsThatItManages) {
  const std::string value = WriteGpuReservation(Reserved());
  EXPECT_EQ(TimesOf(ReservedPodText("synergy", value)).reservation, Reserved());
  EXPECT_EQ(ReadReservationOf(ReservedPodText("synergy", value), "synergy-scheduler"), Reserved());
  EXPECT_FALSE(TimesOf(ReservedPodText("kubectl", value)).reservation);
  EXPECT_FALSE(
      TimesOf(ReservedPodText("synergy", value, R"("schedulerName":"other")")).reservation);
  EXPECT_FALSE(TimesOf(ReservedPodText("synergy", "nonsense")).reservation);
}

TEST(GpuReservationTest, ALearntDurationCountsOnlyBySynergyAndLowersTheBound) {
  const auto times_of = [](std::string_view manager, std::string_view value,
                           std::string_view spec) {
    return TimesOf(
        fmt::format(R"({{"metadata":{{"uid":"u","annotations":{{"synergy.io/longest-run":"{1}"}},)"
                    R"("managedFields":[{{"manager":"{0}","operation":"Update",)"
                    R"("time":"2026-11-21T13:05:00Z","fieldsV1":{{"f:metadata":{{"f:annotations":)"
                    R"({{"f:synergy.io/longest-run":{{}}}}}}}}}}]}},"spec":{{{2}}}}})",
                    manager, value, spec));
  };
  constexpr std::string_view kOurs = R"("schedulerName":"synergy-scheduler")";
  constexpr std::string_view kLate =
      R"("schedulerName":"synergy-scheduler","activeDeadlineSeconds":9000)";
  constexpr std::string_view kSoon =
      R"("schedulerName":"synergy-scheduler","activeDeadlineSeconds":9)";
  const std::string value = WriteLongestRun(std::chrono::milliseconds(3'599'001));
  EXPECT_EQ(value, "3600");
  EXPECT_EQ(times_of("synergy", value, kOurs).learnt, std::chrono::hours(1));
  EXPECT_EQ(times_of("synergy", value, kOurs).Bound(), std::chrono::hours(1));
  EXPECT_EQ(times_of("synergy", value, kLate).Bound(), std::chrono::hours(1));
  EXPECT_EQ(times_of("synergy", value, kSoon).Bound(), std::chrono::seconds(9));
  EXPECT_FALSE(times_of("kubectl", value, kOurs).learnt);
  EXPECT_EQ(times_of("kubectl", value, kLate).Bound(), std::chrono::seconds(9000));
  EXPECT_EQ(times_of("synergy", value, kLate).longest, std::chrono::seconds(9000));
  EXPECT_FALSE(times_of("synergy", value, R"("schedulerName":"other")").learnt);
  for (const char* const wrong : {"", "0", "-5", "1h", "60 ", "1e3", "99999999999999999999"})
    EXPECT_FALSE(times_of("synergy", wrong, kOurs).learnt) << wrong;
}

TEST(GpuReservationTest, LastsNoLongerThanItsLifetimeAfterItWasWritten) {
  PublishedReservation for_ever = Reserved();
  for_ever.until = At("23:00:00");
  EXPECT_EQ(TimesOf(ReservedPodText("synergy", WriteGpuReservation(for_ever))).reservation->until,
            At("13:15:00"));
}

TEST(PodTimesTest, HaveTheDeadlineWithTheGracePeriodAfterIt) {
  const std::string pod = ReservedPodText(
      "kubectl", "", R"("activeDeadlineSeconds":60,"terminationGracePeriodSeconds":30)",
      R"({"startTime":"2026-11-21T13:00:00Z","phase":"Succeeded"})");
  const PodTimes times = TimesOf(pod);
  EXPECT_EQ(times.uid, "u");
  EXPECT_EQ(times.longest, seconds(90));
  EXPECT_EQ(times.started, At("13:00:00"));
  EXPECT_TRUE(times.succeeded);
  EXPECT_EQ(ReadLongestRun(pod), seconds(90));
}

TEST(PodTimesTest, AreUnknownOfAPodWithoutThem) {
  const PodTimes times = TimesOf(R"({"metadata":{"uid":"u","name":"p"},"spec":{},"status":{}})");
  EXPECT_FALSE(times.longest);
  EXPECT_FALSE(times.started);
  EXPECT_FALSE(times.succeeded);
  EXPECT_FALSE(times.reservation);
  EXPECT_FALSE(ReadLongestRun("nonsense"));
}

TEST(PodTimesTest, HaveTheUidOfTheController) {
  const auto owner = [](std::string_view references) {
    return TimesOf(fmt::format(R"({{"metadata":{{"uid":"u","ownerReferences":{}}},"spec":{{}}}})",
                               references))
        .owner;
  };
  EXPECT_EQ(owner(R"([{"uid":"queue"},{"uid":"job","controller":true}])"), "job");
  EXPECT_EQ(owner(R"([{"uid":"queue"}])"), "");
  EXPECT_EQ(owner(R"({"uid":"job"})"), "");
  EXPECT_EQ(owner(fmt::format(R"([{{"uid":"{}","controller":true}}])", std::string(1000, 'u'))), "")
      << "no UID is that long";
}

TEST(PodTimesTest, HaveTheUsersEstimate) {
  const auto expected = [](std::string_view text) {
    return TimesOf(fmt::format(R"({{"metadata":{{"uid":"u","annotations":)"
                               R"({{"synergy.io/expected-duration":"{}"}}}},"spec":{{}}}})",
                               text))
        .expected;
  };
  EXPECT_EQ(expected("90m"), std::chrono::minutes(90));
  EXPECT_EQ(expected("1h30m"), std::chrono::minutes(90));
  EXPECT_LT(expected("2000000h"), std::chrono::hours(24 * 365 * 100));
  for (const char* const wrong : {"", "0s", "-1h", "90", "soon", "1e300h"})
    EXPECT_FALSE(expected(wrong)) << wrong;
}

TEST(PodTimesTest, BoundADeadlineThatATenantWrites) {
  const auto longest = ReadLongestRun(R"({"spec":{"activeDeadlineSeconds":9223372036854775807,)"
                                      R"("terminationGracePeriodSeconds":9223372036854775807}})");
  ASSERT_TRUE(longest);
  EXPECT_GT(*longest, std::chrono::hours(24 * 365));
  EXPECT_LT(*longest, std::chrono::hours(24 * 365 * 100));
}

}  // namespace
}  // namespace synergy::wire
