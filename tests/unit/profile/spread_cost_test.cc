#include "profile/spread_cost.h"

#include <gtest/gtest.h>

namespace synergy {
namespace {

TEST(SpreadCostTest, IsReadAsItIsWritten) {
  for (const SpreadCost& cost : {SpreadCost{}, SpreadCost{.nodes = 0.7},
                                 SpreadCost{0.7, 0.5, 0.744}, SpreadCost{.tensor_skew = 0}}) {
    EXPECT_EQ(ParseSpreadCost(ToText(cost)), cost) << ToText(cost);
  }
  EXPECT_EQ(ToText({0.7, 0.5, 0.744}), "nodes=0.7,racks=0.5,tensor-skew=0.744");
}

TEST(SpreadCostTest, InvalidTextMeansNoCost) {
  for (const char* text :
       {"", "nodes", "nodes=", "nodes=fast", "nodes=0", "nodes=1.1", "nodes=nan", "racks=0.5",
        "nodes=0.5,racks=-1", "tensor-skew=2", "speed=1", ",", "nodes=0.7,x=1"}) {
    EXPECT_EQ(ParseSpreadCost(text), SpreadCost{}) << text;
  }
}

}  // namespace
}  // namespace synergy
