#include "json/json_patch.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "support/json_tree.h"

namespace synergy::json {
namespace {

// The effect of `edit` on `text`: the patch, and the text with the patch applied.
struct Patched {
  std::string patch;
  std::string text;
};

template <class Edit>
Patched PatchedText(std::string_view text, Edit edit) {
  const Result<Document> document = Document::Parse(text);
  EXPECT_TRUE(document);
  JsonPatch patch(document->root());
  edit(patch);
  Patched patched{patch.Write(), "cannot be applied"};
  const auto tree =
      synergy::testing::ApplyPatch(*synergy::testing::ParseJsonTree(text), patched.patch);
  if (tree) patched.text = tree->Write();
  return patched;
}

TEST(JsonPatchTest, WithoutEditsThereIsNothingToDo) {
  EXPECT_EQ(PatchedText("{}", [](JsonPatch&) {}).patch, "[]");
}

TEST(JsonPatchTest, UnchangedValuesMakeNoPatch) {
  const Patched patched = PatchedText(R"({"a":{"b":"x"}})", [](JsonPatch& patch) {
    patch.SetText({"a", "b"}, "x");
    patch.Remove({"a", "c"});
    patch.Remove({"z", "c"});
  });
  EXPECT_EQ(patched.patch, "[]");
}

TEST(JsonPatchTest, RemovedAndSetMemberIsSet) {
  const Patched patched = PatchedText(R"({"a":{"b":"x","c":"x"}})", [](JsonPatch& patch) {
    for (const char* key : {"b", "c"}) patch.Remove({"a", key});
    patch.SetText({"a", "b"}, "y");
    patch.SetText({"a", "c"}, "x");
  });
  EXPECT_EQ(patched.patch, R"([{"op":"replace","path":"/a/b","value":"y"}])");
}

TEST(JsonPatchTest, AMissingMemberIsAddedAndADifferentOneReplaced) {
  const Patched patched = PatchedText(R"({"a":{"b":"x"}})", [](JsonPatch& patch) {
    patch.SetText({"a", "b"}, "y");
    patch.SetText({"a", "c"}, "z");
  });
  EXPECT_EQ(
      patched.patch,
      R"([{"op":"replace","path":"/a/b","value":"y"},{"op":"add","path":"/a/c","value":"z"}])");
  EXPECT_EQ(patched.text, R"({"a":{"b":"y","c":"z"}})");
}

TEST(JsonPatchTest, MissingParentsAreMadeOnceWithAllThatGoesIntoThem) {
  const Patched patched = PatchedText("{}", [](JsonPatch& patch) {
    patch.SetText({"a", "b", "c"}, "x");
    patch.SetText({"a", "b", "d"}, "y");
    patch.Prepend({"a", "list"}, "1");
    patch.Prepend({"a", "list"}, "2");
  });
  EXPECT_EQ(patched.patch,
            R"([{"op":"add","path":"/a","value":{"b":{"c":"x","d":"y"},"list":[1,2]}}])");
}

TEST(JsonPatchTest, ANullOrAValueOfAnotherKindGivesWayToAParent) {
  for (const char* text : {R"({"a":null})", R"({"a":"text"})", R"({"a":7})"}) {
    const Patched patched =
        PatchedText(text, [](JsonPatch& patch) { patch.SetText({"a", "b"}, "x"); });
    EXPECT_EQ(patched.text, R"({"a":{"b":"x"}})") << text;
  }
}

TEST(JsonPatchTest, SlashesAndTildesInKeysAreEscaped) {
  const Patched patched = PatchedText(R"({"m":{"a/b~c":"x"}})", [](JsonPatch& patch) {
    patch.Remove({"m", "a/b~c"});
    patch.SetText({"m", "~1/"}, "y");
  });
  EXPECT_EQ(patched.patch,
            R"([{"op":"remove","path":"/m/a~1b~0c"},{"op":"add","path":"/m/~01~1","value":"y"}])");
  EXPECT_EQ(patched.text, R"({"m":{"~1/":"y"}})");
}

TEST(JsonPatchTest, ElementsGoInFrontInTheirOrder) {
  const Patched patched = PatchedText(R"({"c":[{"env":[3]},{}]})", [](JsonPatch& patch) {
    patch.Prepend({"c", "0", "env"}, "1");
    patch.Prepend({"c", "0", "env"}, "2");
    patch.Prepend({"c", "1", "env"}, "4");
  });
  EXPECT_EQ(patched.text, R"({"c":[{"env":[1,2,3]},{"env":[4]}]})");
}

TEST(JsonPatchTest, AnEmptyListIsFilled) {
  const Patched patched =
      PatchedText(R"({"env":[]})", [](JsonPatch& patch) { patch.Prepend({"env"}, "1"); });
  EXPECT_EQ(patched.text, R"({"env":[1]})");
}

TEST(JsonPatchTest, TextIsWrittenAsJson) {
  const Patched patched =
      PatchedText("{}", [](JsonPatch& patch) { patch.SetText({"a"}, "\"\\\n\xc3\xa4\xff"); });
  EXPECT_EQ(patched.patch,
            "[{\"op\":\"add\",\"path\":\"/a\",\"value\":\"\\\"\\\\\\u000a\xc3\xa4\xef\xbf\xbd\"}]");
}

}  // namespace
}  // namespace synergy::json
