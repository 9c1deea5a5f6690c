#include "controller/cluster/profile_store.h"

#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/cluster/keyed_store.h"

namespace synergy::controller {
namespace {

using ::testing::IsEmpty;

ProfileObject MakeProfile(const std::string& name, bool valid = true) {
  ProfileObject object;
  object.profile_namespace = "team";
  object.name = name;
  if (!valid) {
    object.problems = {"spec: is missing"};
    return object;
  }
  auto profile = JobProfile::Create(Gpus(1), {{Cores(2), GB(10), 0.9}, {Cores(4), GB(10), 1.0}});
  EXPECT_TRUE(profile);
  object.profile = std::make_shared<const JobProfile>(*profile);
  return object;
}

TEST(ProfileStoreTest, TheDemandFollowsTheProfilesToleranceOrTheCommonOne) {
  ProfileStore store(0.1);
  store.Upsert(MakeProfile("common"));
  ProfileObject exact = MakeProfile("exact");
  exact.tolerance = 0;
  store.Upsert(exact);
  EXPECT_EQ(store.Find("team", "common")->demand.cpu, Cores(2));
  EXPECT_EQ(store.Find("team", "exact")->demand.cpu, Cores(4));
}

TEST(ProfileStoreTest, NamesBelongToTheirNamespaces) {
  ProfileStore store(0);
  store.Upsert(MakeProfile("image"));
  EXPECT_NE(store.Find("team", "image"), nullptr);
  EXPECT_EQ(store.Find("other", "image"), nullptr);
  EXPECT_EQ(store.Find("team", ""), nullptr);
}

TEST(ProfileStoreTest, ProfileInUseDoesNotChange) {
  ProfileStore store(0);
  store.Upsert(MakeProfile("image"));
  const auto held = store.Find("team", "image");
  store.Remove(MakeProfile("image"));
  EXPECT_EQ(store.Find("team", "image"), nullptr);
  EXPECT_EQ(held->demand.cpu, Cores(4));
}

TEST(ProfileStoreTest, EveryChangeIsCounted) {
  ProfileStore store(0);
  const uint64_t before = store.version();
  store.Replace({MakeProfile("a"), MakeProfile("b", false)});
  EXPECT_EQ(store.counts().valid, 1U);
  EXPECT_EQ(store.counts().invalid, 1U);
  EXPECT_EQ(store.All().size(), 2U);
  store.Replace({});
  EXPECT_TRUE(store.All().empty());
  EXPECT_GE(store.version(), before + 2);
}

TEST(KeyedStoreTest, HasTheObjectsOfTheWatch) {
  KeyedStore<Namespace> store;
  store.Upsert({"team", {{"a", "1"}}});
  EXPECT_EQ(store.Find("team")->labels, (Labels{{"a", "1"}}));
  EXPECT_EQ(store.Find("other"), nullptr);
  store.Replace({{"other", {{"a", "3"}}}});
  EXPECT_EQ(store.Find("team"), nullptr);
  EXPECT_EQ(store.Last({"other", {}})->labels, (Labels{{"a", "3"}}));
  store.Remove({"other", {}});
  EXPECT_EQ(store.size(), 0U);
}

TEST(KeyedStoreTest, ASnapshotStaysAsItWas) {
  KeyedStore<Namespace> store;
  store.Upsert({"a", {}});
  const ObjectMap<Namespace> before = store.Snapshot();
  store.Upsert({"b", {}});
  store.Upsert({"a", {{"new", ""}}});
  const ObjectMap<Namespace> between = store.Snapshot();
  store.Remove({"a", {}});
  store.Replace({});
  EXPECT_EQ(before.size(), 1U);
  EXPECT_EQ(between.size(), 2U);
  EXPECT_THAT(before.Find("a")->labels, IsEmpty());
  EXPECT_EQ(between.Find("a")->labels.size(), 1U);
  EXPECT_EQ(store.Snapshot().size(), 0U);
}

ProfileObject MeasuredOn(const std::string& product, int64_t revision = 1) {
  ProfileObject object = MakeProfile("bert-" + product);
  object.generation = 1;
  MeasuredProfile& measured = object.measured.emplace();
  measured.workload = "bert";
  measured.gpu_product = product;
  measured.revision = revision;
  return object;
}

TEST(ProfileStoreTest, FindsMeasuredProfilesByWorkload) {
  ProfileStore store(0);
  EXPECT_FALSE(store.AnyMeasured());
  store.Upsert(MakeProfile("given"));
  store.Upsert(MeasuredOn("V100"));
  store.Upsert(MeasuredOn("A100"));
  store.Upsert(MeasuredOn("A100", 2));
  const auto found = store.Measured("team", "bert", Gpus(1), 1);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0]->object.measured->gpu_product, "A100");
  EXPECT_EQ(found[0]->object.measured->revision, 2);
  EXPECT_TRUE(store.Measured("team", "bert", Gpus(2), 1).empty());
  EXPECT_TRUE(store.Measured("other", "bert", Gpus(1), 1).empty());
  EXPECT_TRUE(store.Measured("team", "bert", Gpus(1), 2).empty()) << "of pods that train alone";
  store.Remove(MeasuredOn("V100"));
  EXPECT_EQ(store.Measured("team", "bert", Gpus(1), 1).size(), 1U);
  // A user has written points into it.
  ProfileObject given = MakeProfile("bert-A100");
  store.Upsert(given);
  EXPECT_FALSE(store.AnyMeasured());
}

TEST(ProfileStoreTest, TheTunerAndTheProfilerFindTheRevisionThatWasPublished) {
  ProfileStore store(0);
  store.Upsert(MeasuredOn("A100", 5));
  store.Upsert(MakeProfile("given"));
  EXPECT_EQ(StoredProfiles(store).Find("team", "bert-A100", Gpus(1)).generation, 5);
  const auto published = StoredMeasurements(store).Find("team", "bert-A100");
  ASSERT_NE(published, nullptr);
  EXPECT_EQ(published->revision, 5);
  EXPECT_EQ(StoredMeasurements(store).Find("team", "given"), nullptr);
}

TEST(ProfileStoreTest, CountsMeasuredProfilesByConfidence) {
  ProfileStore store(0);
  ProfileObject confirmed = MeasuredOn("A");
  confirmed.measured->confirmed = true;
  ProfileObject drifted = MeasuredOn("B");
  drifted.measured->confirmed = drifted.measured->drifted = true;
  for (const ProfileObject& object : {confirmed, drifted, MeasuredOn("C"), MeasuredOn("D")})
    store.Upsert(object);
  const ProfileStore::Counts counts = store.counts();
  EXPECT_EQ(counts.valid, 4U);
  EXPECT_EQ(counts.confirmed, 1U);
  EXPECT_EQ(counts.drifted, 1U);
  EXPECT_EQ(counts.estimated, 2U);
}

}  // namespace
}  // namespace synergy::controller
