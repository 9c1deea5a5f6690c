#include "sim/cluster/drivers/reservation_driver.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "cluster/node_selection.h"
#include "core/random.h"
#include "sim/cluster/product_simulator.h"
#include "support/cluster_vocabulary.h"

namespace synergy::testing {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

constexpr Instant kStart{hours(1000)};
constexpr int64_t kGpus = 8;

// One node, whose GPUs one job has at a time, while another one waits for all of them.
class OneNode {
 public:
  explicit OneNode(const SimulatedReservations& options)
      : driver_(options, state_, [this](const std::string& uid) {
          return uid == running_ ? std::optional<Duration>(ends_ - now_) : std::nullopt;
        }) {
    state_.UpsertNode(MakeNode("n", {Gpus(kGpus), MilliCpu(64'000), Bytes(1'000'000'000'000)}));
  }

  // Runs a job that takes `duration`, while another one waits. Returns the wait that was predicted
  // for that one in the job's last minutes but `left`, as a part of the true one; nullopt: none
  // was.
  std::optional<double> Run(Duration duration, Duration left) {
    const std::string head = "head" + std::to_string(++jobs_);
    Begin(duration);
    now_ = ends_ - left;
    Wait(head, duration);
    driver_.Plan(now_);
    now_ += minutes(1);
    driver_.Plan(now_);
    const auto predicted = driver_.FirstPredictionFor(head);
    for (; now_ < ends_; now_ += minutes(20)) driver_.Plan(now_);
    now_ = ends_;
    End();
    driver_.ForgetJobOf(head);
    if (!predicted) return std::nullopt;
    return Seconds(predicted->start - predicted->at) / Seconds(ends_ - predicted->at);
  }

 private:
  void Begin(Duration duration) {
    running_ = "running" + std::to_string(++jobs_);
    ends_ = now_ + duration;
    Wait(running_, duration);
    state_.UpsertPod(OnNode(MakeGpuPod(running_, kGpus), "n"));
    driver_.SetPlaced(running_, true);
  }

  void End() {
    driver_.Finished(running_, now_);
    state_.RemovePod(running_);
    driver_.ForgetJobOf(running_);
  }

  void Wait(const std::string& job, Duration duration) {
    Pod pod = MakeGpuPod(job, kGpus);
    auto waiting = std::make_shared<Waiting>();
    waiting->selection = std::make_shared<const NodeSelection>();
    pod.waiting = std::move(waiting);
    driver_.Wait(job, {&pod, 1}, duration, now_);
  }

  ClusterState state_;
  Instant now_ = kStart;
  Instant ends_{};
  std::string running_;
  int jobs_ = 0;
  ReservationDriver driver_;
};

SimulatedReservations Options(uint64_t seed) {
  SimulatedReservations options;
  options.settings.after = Duration::zero();
  options.seed = seed;
  return options;
}

TEST(ReservationDriverTest, ExactRemainingTimesGiveExactStarts) {
  OneNode node(Options(1));
  EXPECT_NEAR(node.Run(hours(10), hours(4)).value(), 1, 1e-6);
}

TEST(ReservationDriverTest, StartsByUsersAreLateByUpToFourteenTimesTheDuration) {
  double least = 100;
  double most = 0;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE(seed);
    SimulatedReservations options = Options(seed);
    options.ends_from_users = true;
    Random random(seed);
    const Duration duration = minutes(10 + random.Below(3000));
    const Duration left = minutes(3 + random.Below(7));
    const double part = OneNode(options).Run(duration, left).value();
    EXPECT_GE(part, 1);
    const double longest = 1 + 13 * (Seconds(duration) / Seconds(left - minutes(1)));
    EXPECT_LE(part, longest);
    least = std::min(least, (part - 1) / (longest - 1));
    most = std::max(most, (part - 1) / (longest - 1));
  }
  EXPECT_LT(least, 0.1);
  EXPECT_GT(most, 0.5);
}

TEST(ReservationDriverTest, StartsFollowTheErrorsOfTrainingsThatEnded) {
  // They vary by the error, and do not drift from the truth as trainings end.
  for (const double error : {0.1, 0.3, 0.6}) {
    SCOPED_TRACE(error);
    SimulatedReservations options = Options(7);
    options.error = error;
    OneNode node(options);
    std::vector<double> logarithms;
    for (int job = 0; job < 200; ++job) {
      const auto part = node.Run(hours(5), hours(3));
      if (part) logarithms.push_back(std::log(*part));
    }
    ASSERT_GT(logarithms.size(), 150u);
    std::sort(logarithms.begin(), logarithms.end());
    const double median = logarithms[logarithms.size() / 2];
    EXPECT_NEAR(median, 0, error / 2);
    const double spread =
        logarithms[logarithms.size() * 9 / 10] - logarithms[logarithms.size() / 10];
    // Four fifths of a normal distribution lie within 1.28 standard deviations of its mean.
    EXPECT_GT(spread, 2 * error);
    EXPECT_LT(spread, 3.5 * error);
  }
}

// On a node of 4 GPUs and 8 cores, "ends" leaves two GPUs with a core each, and "stays" has six
// cores then. "next" waits for three GPUs and six cores.
Seconds WaitAfterTheEnd(const ProductOptions& options) {
  std::vector<JobProfile::Point> points;
  for (int64_t cores = 1; cores <= 8; ++cores)
    points.push_back({Cores(cores), GiB(10), static_cast<double>(cores)});
  ModelProfiles profiles;
  profiles.Set("eager",
               std::make_shared<const JobProfile>(*JobProfile::Create(Gpus(1), std::move(points))));
  profiles.Set("flat", std::make_shared<const JobProfile>(
                           *JobProfile::Create(Gpus(1), {{Cores(1), GiB(10), 1}})));
  const std::vector<ProductJob> jobs = {{0, "flat", Gpus(2), Seconds(0), Seconds(3000), 1},
                                        {1, "eager", Gpus(1), Seconds(10), Seconds(90'000), 2},
                                        {2, "eager", Gpus(3), Seconds(500), Seconds(1000), 2}};
  const auto run =
      SimulateProduct(ClusterOf(1, {Gpus(4), Cores(8), GiB(40)}), jobs, profiles, options);
  EXPECT_TRUE(run) << run.error().message;
  return run->jobs[2].start - run->jobs[0].finish;
}

TEST(ReservedJobTest, StartsWithoutWaitingForACutOfOthers) {
  ProductOptions options;
  const Seconds cut_first = WaitAfterTheEnd(options);
  options.reservations.emplace().settings.after = minutes(1);
  const Seconds at_once = WaitAfterTheEnd(options);
  EXPECT_GE(at_once, Seconds(0));
  EXPECT_LE(at_once + options.latencies.resize, cut_first);
}

}  // namespace
}  // namespace synergy::testing
