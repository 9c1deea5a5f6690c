#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "wire/extender/extender_messages.h"

namespace synergy::wire {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view kNamedPod =
    R"("Pod":{"metadata":{"name":"p","namespace":"x","uid":"u"}})";

Result<ExtenderArgs> ReadArgs(std::string_view body) {
  static const ObjectReader reader("nvidia.com/gpu");
  return ReadExtenderArgs(body, reader);
}

std::vector<std::string_view> Names(const ExtenderArgs& args) {
  std::vector<std::string_view> names;
  for (size_t i = 0; i < args.size(); ++i) names.push_back(args.Name(i));
  return names;
}

std::string ErrorOf(std::string_view body) {
  const auto args = ReadArgs(body);
  return args ? "no error" : args.error().message;
}

TEST(ExtenderArgsTest, NodesComeAsNames) {
  const std::string body =
      fmt::format(R"({{{},"Nodes":null,"NodeNames":["n1", "n2"],"More":[{{}}]}})", kNamedPod);
  const auto args = ReadArgs(body);
  ASSERT_TRUE(args) << args.error().message;
  EXPECT_EQ(args->pod.Key(), "x/p");
  EXPECT_FALSE(args->whole_nodes);
  EXPECT_THAT(Names(*args), ElementsAre("n1", "n2"));
  EXPECT_THAT(args->answers(), ElementsAre(R"("n1")", R"("n2")"));
}

TEST(ExtenderArgsTest, NodesComeWholeAndGoBackAsTheyWere) {
  const std::string_view first = R"({"metadata":{"labels":{"name":"l"},"name":"n1"},"spec":{}})";
  const std::string_view second = R"({ "status":{"name":"s"}, "metadata":{"name":"n2"} })";
  const std::string body =
      fmt::format(R"({{"Nodes":{{"metadata":{{}},"items":[{},{}]}},"NodeNames":null,{}}})", first,
                  second, kNamedPod);
  const auto args = ReadArgs(body);
  ASSERT_TRUE(args) << args.error().message;
  EXPECT_TRUE(args->whole_nodes);
  EXPECT_THAT(Names(*args), ElementsAre("n1", "n2"));
  EXPECT_THAT(args->answers(), ElementsAre(first, second));
}

TEST(ExtenderArgsTest, ANameWithEscapesIsReadAndGoesBackAsItWasSpelled) {
  const std::string body =
      fmt::format(R"({{{},"NodeNames":["a","n\u0031","b\/c","d"]}})", kNamedPod);
  const auto args = ReadArgs(body);
  ASSERT_TRUE(args) << args.error().message;
  EXPECT_THAT(Names(*args), ElementsAre("a", "n1", "b/c", "d"));
  EXPECT_THAT(args->answers(), ElementsAre(R"("a")", R"("n\u0031")", R"("b\/c")", R"("d")"));
}

TEST(ExtenderArgsTest, NoNodesAreNoneAndNoError) {
  for (const std::string_view nodes :
       {R"("NodeNames":[])", R"("NodeNames":null)", R"("Nodes":{"items":[]})",
        R"("Nodes":{"items":null})", R"("Nodes":{})", R"("Other":0)"}) {
    const std::string body = fmt::format("{{{},{}}}", kNamedPod, nodes);
    const auto args = ReadArgs(body);
    ASSERT_TRUE(args) << body << ": " << args.error().message;
    EXPECT_THAT(Names(*args), IsEmpty()) << body;
  }
}

TEST(ExtenderArgsTest, ErrorsNameTheField) {
  struct Case {
    std::string members;
    std::string_view message;
  };
  const std::string pod(kNamedPod);
  const Case cases[] = {
      {R"("NodeNames":["n"])", "Pod is missing"},
      {R"("Pod":null)", "Pod is missing"},
      {R"("Pod":[])", "Pod is of a wrong type"},
      {R"("Pod":{"metadata":{"name":1}})", "Pod.metadata.name"},
      {pod + R"(,"NodeNames":{})", "NodeNames is of a wrong type"},
      {pod + R"(,"NodeNames":["a",7])", "NodeNames[1] is not a string"},
      {pod + R"(,"NodeNames":["a\x"])", "JSON"},
      {pod + R"(,"Nodes":[])", "Nodes is of a wrong type"},
      {pod + R"(,"Nodes":{"items":{}})", "Nodes.items is of a wrong type"},
      {pod + R"(,"Nodes":{"items":[{"metadata":{"name":"a"}},1]})",
       "Nodes.items[1] is not an object"},
      {pod + R"(,"Nodes":{"items":[{"metadata":{}}]})", "Nodes.items[0].metadata.name is missing"},
      {pod + R"(,"Nodes":{"items":[{"metadata":{"name":null}}]})",
       "Nodes.items[0].metadata.name is missing"},
      {pod + R"(,"NodeNames":[],"Nodes":{"items":[]})", "expected one of them"},
  };
  for (const Case& wrong : cases) {
    EXPECT_THAT(ErrorOf("{" + wrong.members + "}"), HasSubstr(std::string(wrong.message)))
        << wrong.members;
  }
  EXPECT_EQ(ErrorOf("[]"), "the body is not a JSON object");
}

TEST(ExtenderArgsTest, ABodyCutShortAnywhereIsRefused) {
  const std::string bodies[] = {
      fmt::format(R"({{{},"NodeNames":["n1","n\u0032"],"Nodes":null}})", kNamedPod),
      fmt::format(R"({{{},"Nodes":{{"items":[{{"metadata":{{"name":"n1"}}}}]}}}})", kNamedPod),
  };
  for (const std::string& body : bodies) {
    ASSERT_TRUE(ReadArgs(body)) << body;
    for (size_t size = 0; size < body.size(); ++size) {
      EXPECT_FALSE(ReadArgs(body.substr(0, size))) << body.substr(0, size);
    }
    EXPECT_THAT(ErrorOf(body + "}"), HasSubstr("not JSON"));
  }
}

TEST(ExtenderArgsTest, SkipsNestingOfUnusedMembers) {
  const std::string deep = std::string(1'000'000, '[') + std::string(1'000'000, ']');
  for (const std::string_view member : {"Pod", "Other"}) {
    EXPECT_EQ(ErrorOf(fmt::format(R"({{"{}":{{"a":{}}},{}}})", member, deep, kNamedPod)),
              "no error")
        << member;
  }
  EXPECT_EQ(ErrorOf(fmt::format(R"({{"NodeNames":{},{}}})", deep, kNamedPod)),
            "NodeNames[0] is not a string");
}

}  // namespace
}  // namespace synergy::wire
