#include "cli/text/shown.h"

#include <string>

#include <gtest/gtest.h>

namespace synergy::cli::testing {
namespace {

ShownObject ShownPod(const std::string& name, int64_t cpu, double age = 0) {
  return {.names = {"pod/" + name},
          .cells = {name, std::to_string(cpu), "long story"},
          .tree = Tree::Members{{"name", name}, {"cpu", cpu}, {"age", Elapsing{age}}}};
}

cli::Shown TwoPods() {
  return {.columns = {"POD", "CPU", "WHY"},
          .wide_columns = 1,
          .objects = {ShownPod("a", 1), ShownPod("long", 20)}};
}

std::string Once(Format format, const cli::Shown& shown) {
  return Presenter(format, true, false).Present(shown);
}

TEST(PresenterTest, TablesHaveTheirWideColumnsOnRequest) {
  EXPECT_EQ(Once(Format::kTable, TwoPods()), "POD   CPU\na     1\nlong  20\n");
  EXPECT_EQ(Once(Format::kWide, TwoPods()),
            "POD   CPU  WHY\na     1    long story\nlong  20   long story\n");
  EXPECT_EQ(Presenter(Format::kTable, false, false).Present(TwoPods()), "a     1\nlong  20\n");
  EXPECT_EQ(Once(Format::kTable, {.columns = {"POD"}}), "");
}

TEST(PresenterTest, ANamespaceIsTheFirstColumn) {
  cli::Shown shown{.columns = {"POD", "CPU", "WHY"}};
  for (const char* name : {"a", "b"}) {
    shown.objects.push_back(ShownPod(name, 1));
    AddNamespace(shown, "team");
  }
  EXPECT_EQ(ToText(shown),
            "NAMESPACE  POD  CPU  WHY\nteam       a    1    long story\n"
            "team       b    1    long story\n");
}

TEST(PresenterTest, NamesHaveALineEach) {
  EXPECT_EQ(Once(Format::kName, TwoPods()), "pod/a\npod/long\n");
}

TEST(PresenterTest, ListsAreListsAndSingleObjectsAreNot) {
  EXPECT_EQ(Once(Format::kYaml, TwoPods()),
            "- name: a\n  cpu: 1\n  age: 0\n- name: long\n  cpu: 20\n  age: 0\n");
  EXPECT_EQ(Once(Format::kJson, {.columns = {"POD"}}), "[]\n");
  const cli::Shown one = ShowOne("pod/a", "text\n", Tree::Members{{"name", "a"}});
  EXPECT_EQ(Once(Format::kYaml, one), "name: a\n");
  EXPECT_EQ(Once(Format::kTable, one), "text\n");
  EXPECT_EQ(Once(Format::kName, one), "pod/a\n");
}

TEST(PresenterTest, LaterStatesShowOnlyWhatHasChanged) {
  Presenter table(Format::kTable, true, true);
  EXPECT_EQ(table.Present(TwoPods()), "POD   CPU\na     1\nlong  20\n");
  EXPECT_EQ(table.Present(TwoPods()), "");
  cli::Shown later = TwoPods();
  later.objects[1] = ShownPod("long", 30);
  later.objects.push_back(ShownPod("new", 4));
  EXPECT_EQ(table.Present(later), "long  30\nnew   4\n");
  later.objects.erase(later.objects.begin());
  EXPECT_EQ(table.Present(later), "");
  later.objects.push_back(ShownPod("a", 1));
  EXPECT_EQ(table.Present(later), "a     1\n");
}

TEST(PresenterTest, TimeAloneChangesNothing) {
  Presenter yaml(Format::kYaml, true, true);
  cli::Shown shown{.columns = {"POD"}, .objects = {ShownPod("a", 1, 5)}};
  EXPECT_EQ(yaml.Present(shown), "name: a\ncpu: 1\nage: 5\n");
  shown.objects = {ShownPod("a", 1, 7)};
  EXPECT_EQ(yaml.Present(shown), "");
  shown.objects = {ShownPod("a", 2, 9)};
  EXPECT_EQ(yaml.Present(shown), "---\nname: a\ncpu: 2\nage: 9\n");
}

TEST(PresenterTest, HeadingsWaitForTheFirstObject) {
  Presenter table(Format::kTable, true, true);
  EXPECT_EQ(table.Present({.columns = {"POD", "CPU", "WHY"}}), "");
  EXPECT_EQ(table.Present(TwoPods()), "POD   CPU\na     1\nlong  20\n");
}

}  // namespace
}  // namespace synergy::cli::testing
