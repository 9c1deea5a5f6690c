package main

import (
	"math/big"

	inf "gopkg.in/inf.v0"

	"k8s.io/apimachinery/pkg/api/resource"
)

type quantityAnswer struct {
	Value        int64 `json:"value"`
	Milli        int64 `json:"milli"`
	ValueInRange bool  `json:"valueInRange"`
	MilliInRange bool  `json:"milliInRange"`
}

// inRange returns whether the quantity times 10^places, rounded away from zero, fits into an int64.
func inRange(quantity resource.Quantity, places int) bool {
	copied := quantity.DeepCopy()
	decimal := copied.AsDec()
	if decimal.Sign() == 0 {
		return true
	}
	// The exponent can be any 32-bit number: expanding it would exhaust memory, and any non-zero
	// integer times 10^20 is too large.
	if decimal.Scale() < -20 {
		return false
	}
	scaled := new(inf.Dec).Mul(decimal, inf.NewDec(1, inf.Scale(-places)))
	rounded := new(inf.Dec).Round(scaled, 0, inf.RoundUp)
	return new(big.Int).Set(rounded.UnscaledBig()).IsInt64()
}
