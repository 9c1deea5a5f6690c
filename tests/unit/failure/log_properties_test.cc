// Changes of a log that must not change the verdict, and properties of the verdict on any bytes.

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/random.h"
#include "failure/evidence.h"
#include "json/text.h"
#include "unit/failure/failure_cases.h"

namespace synergy {
namespace {

constexpr uint64_t kSeed = 20261127;

std::vector<std::string> Lines(const std::string& log) {
  std::vector<std::string> lines;
  for (size_t at = 0; at < log.size();) {
    const size_t end = std::min(log.find('\n', at), log.size());
    lines.push_back(log.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

std::string EachLine(const std::string& log, const std::function<std::string(size_t)>& prefix) {
  std::string made;
  size_t number = 0;
  for (const std::string& line : Lines(log)) made += prefix(number++) + line + "\n";
  return made;
}

// Expects that `change` of the logs changes no category.
void ExpectUnchanged(const std::function<std::string(const std::string&)>& change) {
  for (const testing::FailureCase& one : testing::ReadFailureCases()) {
    if (one.expected.contains("form")) continue;
    std::vector<std::string> logs;
    for (const std::string& log : one.logs) logs.push_back(change(log));
    const std::optional<JobFailure> failure = testing::ClassifyWith(one, logs);
    EXPECT_EQ(failure ? std::string(ToString(failure->category)) : "none", one.category)
        << one.file << ": " << one.name << ": " << (failure ? failure->evidence : "");
  }
}

TEST(LogProperties, LinesBeforeChangeNothing) {
  ExpectUnchanged([](const std::string& log) {
    std::string before;
    for (int i = 0; i < 200; ++i)
      before += fmt::format("INFO:root:read shard {:05d} of 00200\n", i);
    return before + log;
  });
}

TEST(LogProperties, TimesOfTheKubeletChangeNothing) {
  ExpectUnchanged([](const std::string& log) {
    return EachLine(log, [](size_t number) {
      return fmt::format("2026-11-21T07:05:{:02}.{:09}Z stderr F ", number / 100 % 60,
                         number % 100);
    });
  });
}

TEST(LogProperties, TimesOfKubectlChangeNothing) {
  ExpectUnchanged([](const std::string& log) {
    return EachLine(log, [](size_t number) {
      return fmt::format("2026-11-21T07:05:{:02}.{:09}Z ", number / 100 % 60, number % 100);
    });
  });
}

TEST(LogProperties, TimesOfALoggerChangeNothing) {
  ExpectUnchanged([](const std::string& log) {
    return EachLine(log, [](size_t number) {
      return fmt::format("[2026-11-21 07:05:{:02},{:03}] ", number / 100 % 60, number % 100);
    });
  });
}

// Each log gets some of the prefixes, which saves time.
TEST(LogProperties, PrefixesOfLaunchersChangeNothing) {
  const std::vector<std::string> prefixes = {"i.pretrain/0 ",
                                             "trainer/0 [3]:",
                                             "[0]:",
                                             "[0]: ",
                                             "[trainer0|0]:",
                                             "worker-0: ",
                                             "[err, 11:48, 929s, g3118] ",
                                             "[1,0]<stderr>:",
                                             "Fri Sep 25 16:52:57 2026[1]<stderr>:",
                                             "[default3]:",
                                             "[rank3]: ",
                                             "trainer-1  | ",
                                             "(TrainWorker pid=77, ip=10.0.0.1) ",
                                             "i.pretrain/0 [rank4]: "};
  for (size_t first : {0U, 4U, 9U}) {
    ExpectUnchanged([&](const std::string& log) {
      const std::string& prefix = prefixes[first++ % prefixes.size()];
      return EachLine(log, [&prefix](size_t) { return prefix; });
    });
  }
}

TEST(LogProperties, ColoursChangeNothing) {
  ExpectUnchanged([](const std::string& log) {
    std::string made;
    for (const std::string& line : Lines(log)) made += "\x1b[36m" + line + "\x1b[0m\n";
    return made;
  });
}

TEST(LogProperties, WindowsLineEndsChangeNothing) {
  ExpectUnchanged([](const std::string& log) {
    std::string made;
    for (const std::string& line : Lines(log)) made += line + "\r\n";
    return made;
  });
}

TEST(LogProperties, AMissingLastLineEndChangesNothing) {
  ExpectUnchanged(
      [](const std::string& log) { return log.substr(0, log.find_last_not_of('\n') + 1); });
}

// Returns some piece of some case's logs, changed here and there.
std::string AnyLog(Random& random, const std::vector<testing::FailureCase>& cases) {
  std::string log;
  for (uint64_t pieces = 1 + random.Below(8); pieces > 0; --pieces) {
    const std::string& from = cases[random.Below(cases.size())].logs[0];
    const size_t begin = random.Below(from.size() + 1);
    log += from.substr(begin, random.Below(3000));
  }
  for (uint64_t changes = random.Below(30); changes > 0 && !log.empty(); --changes) {
    const size_t at = random.Below(log.size());
    switch (random.Below(3)) {
      case 0:
        log[at] = static_cast<char>(random.Below(256));
        break;
      case 1:
        log.erase(at, random.Below(50));
        break;
      default:
        log.insert(at, random.Below(400), static_cast<char>(random.Below(256)));
    }
  }
  return log;
}

TEST(LogProperties, AnyBytesHaveOneShortVerdict) {
  const std::vector<testing::FailureCase> cases = testing::ReadFailureCases();
  Random random(kSeed);
  for (int i = 0; i < 400; ++i) {
    const testing::FailureCase& facts = cases[random.Below(cases.size())];
    const std::string log = AnyLog(random, cases);
    const std::optional<JobFailure> one = testing::ClassifyWith(facts, {log});
    const std::optional<JobFailure> again = testing::ClassifyWith(facts, {log});
    ASSERT_EQ(one.has_value(), again.has_value());
    if (!one) continue;
    EXPECT_EQ(one->category, again->category);
    EXPECT_EQ(one->evidence, again->evidence);
    EXPECT_LE(one->evidence.size(), kLongestEvidence);
    EXPECT_TRUE(json::IsUtf8(one->evidence));
    EXPECT_EQ(one->rule.empty(), one->category == Category::kUnknown);
  }
}

TEST(LogProperties, ALogOfAnyLengthIsKeptInBounds) {
  LogTail tail;
  const std::string line(20000, 'x');
  for (int i = 0; i < 300; ++i) tail.Feed(line + "\n");
  for (int i = 0; i < 20000; ++i) tail.Feed("y\n");
  tail.End();
  size_t bytes = 0;
  for (const TimedLine& kept : tail.lines()) bytes += kept.text.size();
  EXPECT_LE(tail.lines().size(), LogTail::kMostLines);
  EXPECT_LE(bytes, LogTail::kMostBytes);
}

}  // namespace
}  // namespace synergy
