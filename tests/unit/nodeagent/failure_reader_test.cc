#include "nodeagent/progress/failure_reader.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/wall_time.h"
#include "support/fake_clock.h"
#include "support/temporary_folder.h"

namespace synergy::nodeagent {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr char kOutOfMemory[] = "torch.OutOfMemoryError: CUDA out of memory.";

class FailureReaderTest : public ::testing::Test {
 protected:
  static wire::ResizeStatus Pod(const std::string& name, const std::string& team = "team") {
    wire::ResizeStatus pod;
    pod.uid = "uid-" + name;
    pod.pod_namespace = team;
    pod.name = name;
    wire::ResizeStatus::Container container;
    container.name = "train";
    container.id = "containerd://" + name;
    pod.containers.push_back(container);
    ManagedContainer fungible;
    fungible.container = "train";
    pod.fungible = std::make_shared<const ManagedContainer>(fungible);
    return pod;
  }
  std::string FileOf(const std::string& name, int run = 0, const std::string& team = "team") {
    std::string file = folder.Path(fmt::format("{}_{}_uid-{}/train/{}.log", team, name, name, run));
    std::filesystem::create_directories(std::filesystem::path(file).parent_path());
    return file;
  }
  void Print(const std::string& name, const std::string& text, int run = 0,
             const std::string& team = "team") {
    std::ofstream(FileOf(name, run, team), std::ios::app)
        << ToTimeText(clock.WallNow()) << " stderr F " << text << "\n";
  }
  // Reads all that is due and will be.
  void ReadAll() {
    for (int i = 0; i < 200; ++i) {
      reader.Step();
      clock.Advance(milliseconds(100));
    }
  }
  std::vector<std::string> Rules() {
    std::vector<std::string> rules;
    for (const EndedRun& run : reader.Report())
      rules.push_back(fmt::format("{} {} {}", run.uid, run.run, run.log.rule));
    return rules;
  }

  testing::FakeClock clock;
  testing::TemporaryFolder folder;
  Duration used{};
  Duration dearness{};
  PodActs acts;
  FailureReader reader{folder.Path(""), [this] { return used += dearness; }, acts, clock};
};

TEST_F(FailureReaderTest, APodThatEndsIsReportedByTheLineThatShowsIt) {
  Print("a", "token=hf_abcdefghijklmnopqrstuvwxyz is my secret");
  Print("a", std::string(kOutOfMemory) + " api_key=abcdef0123456789 " + std::string(1000, 'x'));
  reader.Replace({Pod("a"), Pod("b")});
  ReadAll();
  EXPECT_THAT(Rules(), IsEmpty());
  reader.Remove(Pod("a"));
  ReadAll();
  ASSERT_THAT(Rules(), ElementsAre("uid-a 0 cuda-out-of-memory"));
  const EndedRun run = reader.Report().front();
  EXPECT_EQ(run.container, "train");
  EXPECT_LE(run.log.evidence.size(), 240);
  EXPECT_THAT(run.log.evidence, HasSubstr("CUDA out of memory"));
  EXPECT_THAT(run.log.evidence, Not(HasSubstr("abcdef0123456789")));
}

TEST_F(FailureReaderTest, AnEndIsReportedWithTheActsBeforeIt) {
  Print("a", kOutOfMemory);
  reader.Replace({Pod("a")});
  const PodAct freeze{"freeze", clock.WallNow()};
  acts.Note("uid-a", freeze.act, freeze.at);
  acts.Note("uid-b", "share", freeze.at);
  reader.Remove(Pod("a"));
  acts.Note("uid-a", "freeze", freeze.at + seconds(1));
  ReadAll();
  ASSERT_THAT(Rules(), SizeIs(1));
  EXPECT_THAT(reader.Report().front().acts, ElementsAre(freeze));
}

TEST_F(FailureReaderTest, ARestartedContainersLastRunIsReportedOnce) {
  Print("a", kOutOfMemory, 3);
  Print("a", "step 1", 4);
  wire::ResizeStatus pod = Pod("a");
  pod.containers[0].restarts = 4;
  pod.containers[0].ended_run = 3;
  pod.containers[0].exit_code = 1;
  reader.Upsert(pod);
  reader.Upsert(pod);
  ReadAll();
  reader.Upsert(pod);
  ReadAll();
  EXPECT_THAT(Rules(), ElementsAre("uid-a 3 cuda-out-of-memory"));
  // The run that follows it is another one.
  Print("a", "ModuleNotFoundError: No module named 'x'", 4);
  reader.Remove(pod);
  ReadAll();
  EXPECT_THAT(Rules(), ElementsAre("uid-a 3 cuda-out-of-memory", "uid-a 4 module-not-found"));
}

TEST_F(FailureReaderTest, ARunThatCompletedAndAPodThatIsNotManagedAreNotRead) {
  Print("a", kOutOfMemory);
  wire::ResizeStatus completed = Pod("a");
  completed.containers[0].ended_run = 0;
  reader.Upsert(completed);
  Print("b", kOutOfMemory);
  wire::ResizeStatus foreign = Pod("b");
  foreign.fungible = nullptr;
  reader.Upsert(foreign);
  reader.Remove(foreign);
  ReadAll();
  EXPECT_THAT(Rules(), IsEmpty());
}

TEST_F(FailureReaderTest, ALauncherWithoutGpusIsReadToo) {
  wire::ResizeStatus launcher = Pod("a");
  launcher.fungible = nullptr;
  launcher.is_launcher = true;
  launcher.containers.push_back({.name = "side"});
  Print("a", kOutOfMemory);
  reader.Upsert(launcher);
  reader.Remove(launcher);
  ReadAll();
  EXPECT_THAT(Rules(), ElementsAre("uid-a 0 cuda-out-of-memory"));
}

TEST_F(FailureReaderTest, APodThatANewListLacksHasEnded) {
  Print("a", kOutOfMemory);
  reader.Replace({Pod("a")});
  reader.Replace({});
  ReadAll();
  EXPECT_THAT(Rules(), ElementsAre("uid-a 0 cuda-out-of-memory"));
}

TEST_F(FailureReaderTest, ALogThatIsStillWrittenIsReadAgain) {
  Print("a", "step 1");
  Print("b", "step 1");
  reader.Replace({Pod("a"), Pod("b")});
  reader.Remove(Pod("a"));
  reader.Remove(Pod("b"));
  for (int i = 0; i < 6; ++i) {
    while (reader.Step() < milliseconds(500)) {
    }
    EXPECT_THAT(Rules(), IsEmpty()) << i;
    clock.Advance(seconds(1));
  }
  Print("a", kOutOfMemory);
  ReadAll();
  EXPECT_THAT(Rules(), ElementsAre("uid-a 0 cuda-out-of-memory", "uid-b 0 "));
}

TEST_F(FailureReaderTest, APodThatEndsBeforeItsContainerWasReportedIsRead) {
  wire::ResizeStatus pod = Pod("a");
  pod.containers[0].id.clear();
  reader.Upsert(pod);
  Print("a", kOutOfMemory);
  reader.Remove(pod);
  ReadAll();
  EXPECT_THAT(Rules(), ElementsAre("uid-a 0 cuda-out-of-memory"));
}

TEST_F(FailureReaderTest, ALinkIsNotFollowed) {
  const std::string secret = folder.Path("secret");
  std::ofstream(secret) << ToTimeText(clock.WallNow()) << " stderr F " << kOutOfMemory << "\n";
  std::filesystem::create_symlink(secret, FileOf("a"));
  EXPECT_EQ(ReadLogEnd(FileOf("a")).error().code, ErrorCode::kInvalid);
  reader.Replace({Pod("a")});
  reader.Remove(Pod("a"));
  ReadAll();
  EXPECT_THAT(Rules(), IsEmpty());
}

TEST_F(FailureReaderTest, OnlyTheEndOfALongLogIsRead) {
  Print("a", "ModuleNotFoundError: No module named 'x'");
  for (int i = 0; i < 20000; ++i) Print("a", std::string(60, 'x'));
  Print("a", kOutOfMemory);
  const Result<LogEvidence> log = ReadLogEnd(FileOf("a"));
  ASSERT_TRUE(log);
  EXPECT_EQ(log->rule, "cuda-out-of-memory");
  EXPECT_EQ(ReadLogEnd(folder.Path("none")).error().code, ErrorCode::kNotFound);
}

TEST_F(FailureReaderTest, TheFirstIterationAndTheLastCheckpointAreReported) {
  const WallTime begin = clock.WallNow();
  for (int step = 1; step <= 40; ++step) {
    clock.Advance(seconds(10));
    Print("a", fmt::format("iter {}: loss 2.1234, time 100.00ms, mfu 30.00%", step * 10));
    if (step % 15 == 0) Print("a", "saving checkpoint to out");
  }
  const auto read = [&] { return ReadLogEnd(FileOf("a")).value_or(LogEvidence{}); };
  EXPECT_EQ(read().first_iteration, begin + seconds(10));
  EXPECT_EQ(read().checkpoint, begin + seconds(300));
  // The kubelet has moved the log's beginning to another file.
  std::ofstream(FileOf("a") + ".20261127-080000") << "\n";
  EXPECT_EQ(read().first_iteration, std::nullopt);
  EXPECT_EQ(read().checkpoint, begin + seconds(300));
  // Other runs' files do not count.
  std::filesystem::remove(FileOf("a") + ".20261127-080000");
  std::ofstream(FileOf("a", 10)) << "\n";
  EXPECT_EQ(read().first_iteration, begin + seconds(10));
  for (int i = 0; i < 20000; ++i) Print("a", std::string(60, 'x'));
  EXPECT_EQ(read().first_iteration, std::nullopt) << "only its end was read";
}

TEST_F(FailureReaderTest, OneNamespacesRunsDoNotDelayAnothers) {
  for (int i = 0; i < 300; ++i) {
    const std::string name = fmt::format("greedy-{}", i);
    Print(name, kOutOfMemory, 0, "greedy");
    reader.Upsert(Pod(name, "greedy"));
    reader.Remove(Pod(name, "greedy"));
  }
  Print("a", kOutOfMemory, 0, "modest");
  reader.Upsert(Pod("a", "modest"));
  reader.Remove(Pod("a", "modest"));
  reader.Step();
  reader.Step();
  clock.Advance(FailureReader::kXidDelay);
  EXPECT_THAT(Rules(), ::testing::Contains("uid-a 0 cuda-out-of-memory"));
  ReadAll();
  EXPECT_LE(reader.Report().size(), FailureReader::kMostWaiting + 2);
}

TEST_F(FailureReaderTest, ReadingTakesATenthOfACore) {
  dearness = milliseconds(40);
  Print("a", kOutOfMemory);
  reader.Upsert(Pod("a"));
  reader.Remove(Pod("a"));
  EXPECT_EQ(reader.Step(), milliseconds(360));
}

TEST_F(FailureReaderTest, ReportsAreForgotten) {
  Print("a", kOutOfMemory);
  reader.Upsert(Pod("a"));
  reader.Remove(Pod("a"));
  ReadAll();
  ASSERT_THAT(Rules(), SizeIs(1));
  clock.Advance(FailureReader::kKept + seconds(1));
  reader.Step();
  EXPECT_THAT(Rules(), IsEmpty());
}

TEST_F(FailureReaderTest, AnEndIsReportedOnlyOnceItsXidCanHaveCome) {
  reader.Upsert(Pod("lost"));
  Print("lost", kOutOfMemory);
  reader.Remove(Pod("lost"));
  reader.Step();
  clock.Advance(FailureReader::kXidDelay - milliseconds(1));
  EXPECT_THAT(reader.Report(), IsEmpty());
  clock.Advance(milliseconds(1));
  EXPECT_THAT(reader.Report(), SizeIs(1));
}

}  // namespace
}  // namespace synergy::nodeagent
