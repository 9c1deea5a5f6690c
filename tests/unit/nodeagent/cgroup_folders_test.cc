#include "nodeagent/cgroups/cgroup_folders.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace synergy::nodeagent {
namespace {

using ::testing::ElementsAre;
using wire::QosClass;

TEST(PodFoldersTest, AreTheFoldersOfTheKubelet) {
  EXPECT_THAT(*PodFolders("/", QosClass::kBurstable, "1a-2b"),
              ElementsAre("/kubepods/burstable/pod1a-2b",
                          "/kubepods.slice/kubepods-burstable.slice/"
                          "kubepods-burstable-pod1a_2b.slice"));
  EXPECT_THAT(*PodFolders("/", QosClass::kGuaranteed, "1a-2b"),
              ElementsAre("/kubepods/pod1a-2b", "/kubepods.slice/kubepods-pod1a_2b.slice"));
  EXPECT_THAT(*PodFolders("", QosClass::kBestEffort, "1a"),
              ElementsAre("/kubepods/besteffort/pod1a",
                          "/kubepods.slice/kubepods-besteffort.slice/"
                          "kubepods-besteffort-pod1a.slice"));
}

TEST(PodFoldersTest, StartAtTheKubeletsRoot) {
  EXPECT_THAT(*PodFolders("/test-5/node-1", QosClass::kGuaranteed, "1a"),
              ElementsAre("/test-5/node-1/kubepods/pod1a",
                          "/test_5.slice/test_5-node_1.slice/test_5-node_1-kubepods.slice/"
                          "test_5-node_1-kubepods-pod1a.slice"));
}

TEST(PodFoldersTest, AUidCannotLeadElsewhere) {
  for (const char* uid : {"", "..", "a/b", "../../x", "a b", "a\n"})
    EXPECT_FALSE(PodFolders("/", QosClass::kGuaranteed, uid)) << uid;
}

TEST(IsContainerFolderTest, AcceptsTheNamesOfTheRuntimes) {
  EXPECT_TRUE(IsContainerFolder("90d9", "containerd://90d9"));
  EXPECT_TRUE(IsContainerFolder("cri-containerd-90d9.scope", "containerd://90d9"));
  EXPECT_TRUE(IsContainerFolder("crio-90d9.scope", "cri-o://90d9"));
  EXPECT_TRUE(IsContainerFolder("crio-90d9", "cri-o://90d9"));
  EXPECT_TRUE(IsContainerFolder("docker-90d9.scope", "90d9"));
}

TEST(IsContainerFolderTest, RejectsOtherNames) {
  EXPECT_FALSE(IsContainerFolder("90d9aa", "containerd://90d9"));
  EXPECT_FALSE(IsContainerFolder("aa90d9", "containerd://90d9"));
  EXPECT_FALSE(IsContainerFolder("crio-conmon-90d9.scope", "cri-o://90d9"));
  EXPECT_FALSE(IsContainerFolder("crio-conmon-90d9", "cri-o://90d9"));
  EXPECT_FALSE(IsContainerFolder("crio-90d9.scope.d", "cri-o://90d9"));
  EXPECT_FALSE(IsContainerFolder("", "containerd://"));
  EXPECT_FALSE(IsContainerFolder("", ""));
  EXPECT_FALSE(IsContainerFolder("..", "containerd://.."));
  EXPECT_FALSE(IsContainerFolder("a-/x.scope", "containerd:///x"));
}

}  // namespace
}  // namespace synergy::nodeagent
