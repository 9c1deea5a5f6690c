#include "sim/csv.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace synergy::testing {
namespace {

using ::testing::ElementsAre;

std::string TableError(std::string_view text) {
  const auto table = CsvTable::Parse(text, "some.csv");
  return table ? "no error" : table.error().message;
}

TEST(CsvTableTest, FieldsAreReadByColumnName) {
  const auto table = CsvTable::Parse("name,size\r\na,1\r\n\r\nb,2.5", "some.csv");
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_THAT(table->columns(), ElementsAre("name", "size"));
  ASSERT_EQ(table->rows(), 2U);
  EXPECT_EQ(table->At(1, *table->Find("name")).text, "b");
  EXPECT_EQ(*table->At(0, *table->Find("size")).WholeNumber(0), 1);
  EXPECT_EQ(*table->At(1, *table->Find("size")).Number(0), 2.5);
  EXPECT_FALSE(table->Find("colour"));
}

TEST(CsvTableTest, FieldHasItsLineAndColumn) {
  const auto table = CsvTable::Parse("a,bb\n\nxyz,7", "some.csv");
  ASSERT_TRUE(table);
  const auto field = table->At(0, 1);
  EXPECT_EQ(field.line, 3U);
  EXPECT_EQ(field.column, 5U);
  EXPECT_EQ(field.Reject("write 8").value().message, "some.csv:3:5: bb is \"7\": write 8");
}

TEST(CsvTableTest, NumbersAreReadToTheirEndAndAgainstTheirLimit) {
  for (const char* text : {"", "1x", " 1", "-1", "1.5", "99999999999999999999"}) {
    const std::string whole = std::string("n,m\n") + text + ",";
    EXPECT_FALSE(CsvTable::Parse(whole, "some.csv")->At(0, 0).WholeNumber(0)) << text;
  }
  for (const char* text : {"", "1x", "nan", "inf", "-0.5", "1e999"}) {
    const std::string whole = std::string("n,m\n") + text + ",";
    EXPECT_FALSE(CsvTable::Parse(whole, "some.csv")->At(0, 0).Number(0)) << text;
  }
}

TEST(CsvTableTest, ErrorsNameThePlaceInTheTable) {
  EXPECT_EQ(TableError(""), "some.csv:1: empty: write a header line with the columns' names");
  EXPECT_EQ(TableError("a,b\n1,2\n3\n"),
            "some.csv:3: 1 fields, but the header has 2 columns: write one for each, separated "
            "by commas");
  EXPECT_EQ(TableError("a,b,a\n"), "some.csv:1: the column \"a\" occurs twice: remove one");
}

TEST(CsvTableTest, AMissingColumnIsNamedWithThoseThatThereAre) {
  const auto table = CsvTable::Parse("a,b\n", "some.csv");
  EXPECT_EQ(table->Need("c").error().message,
            "some.csv:1: the header has no column \"c\": add it; existing columns: a, b");
}

}  // namespace
}  // namespace synergy::testing
