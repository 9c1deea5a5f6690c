#include "controller/profile_store.h"

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "controller/namespace_store.h"

namespace synergy::controller {
namespace {

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

TEST(ProfileStoreTest, WhatIsInUseStaysAsItWas) {
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

TEST(NamespaceStoreTest, TellsLabels) {
  NamespaceStore store;
  store.Upsert({"team", {{"a", "1"}, {"b", "2"}}});
  EXPECT_EQ(store.Label("team", "b"), "2");
  EXPECT_EQ(store.Label("team", "c"), "");
  EXPECT_EQ(store.Label("other", "a"), "");
  store.Replace({{"other", {{"a", "3"}}}});
  EXPECT_EQ(store.Label("team", "a"), "");
  EXPECT_EQ(store.Label("other", "a"), "3");
  store.Remove({"other", {}});
  EXPECT_EQ(store.size(), 0U);
}

}  // namespace
}  // namespace synergy::controller
