#include "research/baseline/packing.h"

#include <optional>
#include <vector>

#include "research/tests/unit/baseline/baseline_fixture.h"

namespace synergy::testing {
namespace {

using ::testing::Eq;
using ::testing::Optional;

constexpr auto kAllEqual = [](const Server&, const ResourceVector&) { return std::optional(0); };

std::optional<int64_t> FreeCores(const Server&, const ResourceVector& free) {
  return free.cpu.count();
}

TEST(PackingTest, ServersAlikeAreLookedAtOnce) {
  const std::vector<Server> servers(100, kRoundServer);
  Packing packing(servers);
  int looked_at = 0;
  const auto count = [&](const Server&, const ResourceVector&) {
    return std::optional(looked_at++);
  };
  packing.Best(Gpus(1), count);
  EXPECT_EQ(looked_at, 1);
  for (const ServerIndex server : {3U, 5U}) packing.Take(server, {Gpus(1), Cores(3), GB(60)});
  looked_at = 0;
  packing.Best(Gpus(1), count);
  EXPECT_EQ(looked_at, 2);
}

TEST(PackingTest, AmongEqualsTheFirstIsTaken) {
  const std::vector<Server> servers(3, kRoundServer);
  Packing packing(servers);
  EXPECT_THAT(packing.Best(Gpus(1), kAllEqual), Optional(0U));
  // The server is of another kind now, with the same rank.
  packing.Take(0, {Gpus(1), Cores(3), GB(60)});
  EXPECT_THAT(packing.Best(Gpus(1), kAllEqual), Optional(0U));
  EXPECT_THAT(packing.Best(Gpus(8), kAllEqual), Optional(1U));
  packing.Give(0, {Gpus(1), Cores(3), GB(60)});
  EXPECT_THAT(packing.Best(Gpus(8), kAllEqual), Optional(0U));
}

TEST(PackingTest, TheLeastRankWins) {
  const std::vector<Server> servers(3, kRoundServer);
  Packing packing(servers);
  packing.Take(1, {Gpus(0), Cores(3), GB(60)});
  packing.Take(2, {Gpus(0), Cores(6), GB(60)});
  EXPECT_THAT(packing.Best(Gpus(1), FreeCores), Optional(2U));
}

TEST(PackingTest, OnlyServersWithTheGpusAreConsidered) {
  const std::vector<Server> servers(2, kRoundServer);
  Packing packing(servers);
  packing.Take(1, {Gpus(5), Cores(20), GB(60)});
  EXPECT_THAT(packing.Best(Gpus(3), FreeCores), Optional(1U));
  EXPECT_THAT(packing.Best(Gpus(4), FreeCores), Optional(0U));
  EXPECT_THAT(packing.Best(Gpus(9), FreeCores), Eq(std::nullopt));
}

TEST(PackingTest, AServerThatDoesNotDoIsNotTaken) {
  const std::vector<Server> servers(2, kRoundServer);
  Packing packing(servers);
  packing.Take(0, {Gpus(0), Cores(1), GB(0)});
  const auto whole = [](const Server& server, const ResourceVector& free) {
    return free == server.capacity ? std::optional(0) : std::nullopt;
  };
  EXPECT_THAT(packing.Best(Gpus(1), whole), Optional(1U));
  packing.Take(1, {Gpus(0), Cores(1), GB(0)});
  EXPECT_THAT(packing.Best(Gpus(1), whole), Eq(std::nullopt));
}

TEST(PackingTest, ReleasedAmountsAreFreeAgain) {
  const std::vector<Server> servers(2, kRoundServer);
  Packing packing(servers);
  packing.Take(1, {Gpus(3), Cores(9), GB(180)});
  EXPECT_EQ(packing.free_gpus(), Gpus(13));
  EXPECT_EQ(packing.free(1), (ResourceVector{Gpus(5), Cores(15), GB(300)}));
  packing.Give(1, {Gpus(3), Cores(9), GB(180)});
  EXPECT_EQ(packing.free_gpus(), Gpus(16));
  EXPECT_EQ(packing.free(1), kRoundServer.capacity);
}

}  // namespace
}  // namespace synergy::testing
