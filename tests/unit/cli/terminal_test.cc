#include "cli/text/terminal.h"

#include <string>

#include <gtest/gtest.h>

namespace synergy::cli {
namespace {

TEST(PrintableTest, ControlCharactersAreShownAndNotSent) {
  EXPECT_EQ(Printable("\x1b]0;owned\x07 \x1b[2J"), "\\u001b]0;owned\\u0007 \\u001b[2J");
  EXPECT_EQ(Printable("back\bspace\rand\x7f"), "back\\u0008space\\u000dand\\u007f");
  EXPECT_EQ(Printable(std::string("a\0b", 3)), "a\\u0000b");
}

TEST(PrintableTest, SoAreThoseOfC1InUtf8) {
  EXPECT_EQ(Printable("\xc2\x9b"
                      "2J\xc2\x80\xc2\x9f"),
            "\\u009b2J\\u0080\\u009f");
  EXPECT_EQ(Printable("\x9b"
                      "2J"),
            "\xef\xbf\xbd"
            "2J")
      << "a byte of its own is no UTF-8";
  EXPECT_EQ(Printable("\xc2"), "\xef\xbf\xbd");
}

TEST(PrintableTest, TextStaysAsItIs) {
  const std::string text = "n1\t8 GPUs\n  \xc2\xa0 caf\xc3\xa9 \xe2\x94\x82 \xf0\x9f\x8e\x89\n";
  EXPECT_EQ(Printable(text), text);
  EXPECT_EQ(Printable(""), "");
}

TEST(TableTest, ATextWithLineEndsMakesNoRows) {
  EXPECT_EQ(FormatTable({{"a", "first\nsecond"}, {"bb", "c"}}), "a   first second\nbb  c\n");
}

}  // namespace
}  // namespace synergy::cli
