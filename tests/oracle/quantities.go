package main

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

var (
	decimalSuffixes = []string{"n", "u", "m", "", "k", "M", "G", "T", "P", "E"}
	binarySuffixes  = []string{"Ki", "Mi", "Gi", "Ti", "Pi", "Ei"}
)

// quantity returns any JSON value that a user might write for a quantity, including invalid ones.
func (g *generator) quantity() any {
	switch g.random.IntN(20) {
	case 0:
		return json.RawMessage(pick(g, "null", "0", "1", "1.5", "0.1", "1e3", "1E-2", "12345678901234567890", "-1", "-0.5", "0.0", "1e2"))
	case 1:
		return pick(g, illegalQuantities...)
	case 2:
		return g.mutilated()
	case 3:
		// Decoding trims spaces around a quantity; spaces inside are invalid.
		return pick(g, " ", "\t", "\n", "") + g.legal() + pick(g, " ", "  ", "\r\n", "")
	case 4:
		return pick(g, boundaryQuantities...)
	default:
		return g.legal()
	}
}

var illegalQuantities = []string{
	"", " ", "1K", "1ki", "1mi", "1gi", "1B", "1KB", "1GB", "1Kib", "1mm", "1kk", "1i", "1e", "1E+", "1e-", "1e+", "1e1.5", "1e3Ki",
	"1 Gi", "1_000", "1,000", "0x10", "1..5", "1.2.3", "--1", "+-1", "1-", "1+", "five", "NaN", "Inf", "1e3e3", "1Ei1", "1Gi2",
	"1m5", "1ee3", "null", "1µ", "１", "1k ", "k1", "Ki1", "1.Gi.", "1p", "1t", "1g", "1U", "1N",
}

var boundaryQuantities = []string{
	"9223372036854775807", "9223372036854775808", "9223372036854775806", "9223372036854775807m", "9223372036854775808m",
	"9223372036854775.807", "9223372036854775.808", "9223372036854775.8071", "8Ei", "7.99999999999999999999Ei", "7Ei", "9Ei",
	"1E", "9E", "9.223372036854775807E", "9.3E", "10E", "1e18", "1e19", "1e20", "9.2e18", "999999999999999999", "9999999999999999999",
	"0.000000001", "0.0000000001", "1e-9", "1e-10", "1e-30", "1n", "0.1n", "0.5u", "1000000000n", "1000000001n", "999999999n",
	"0.001", "0.0001", "0.0011", "1.0001", "1.0000000001", "0.1Ki", "0.001Ki", "0.0009765625Ki", "0.00000000000001Ki", "1.1Gi", "1.5Gi",
	"-1", "-1.5", "-0.3Ki", "-1.5Ki", "-1e-10", "-9223372036854775808", "+", "-", ".", "Ki", "e3", "-.5", "+.5", "5.", "-0", "00.0", "0Ki", "0e5", "000",
	"1.Gi", ".5Gi", "1e0", "1e+0", "1e-0", "1E0", "1e03", "123456789012345678", "1234567890123456789", "123456789012345678Ki",
	"0.123456789123456789", "100000000000000000000000n", "1024Pi", "8191Pi", "8192Pi", "8193Pi",
}

// legal returns a quantity of the documented grammar, of any size.
func (g *generator) legal() string {
	sign := ""
	switch g.random.IntN(12) {
	case 0:
		sign = "-"
	case 1:
		sign = "+"
	}
	number := g.digits(1 + g.random.IntN(pick(g, 2, 4, 10, 22)))
	if g.chance(10) {
		number = strings.Repeat("0", 1+g.random.IntN(4)) + number
	}
	switch g.random.IntN(8) {
	case 0, 1:
		number += "." + g.digits(1+g.random.IntN(pick(g, 2, 6, 14)))
	case 2:
		number = pick(g, number+".", "."+number, "0."+number)
	}
	switch g.random.IntN(4) {
	case 0:
		return sign + number + pick(g, binarySuffixes...)
	case 1:
		exponent := g.random.IntN(31) - 12
		return sign + number + pick(g, "e", "E") + pick(g, "", "", "0") + strconv.Itoa(max(exponent, 0))
	case 2:
		return sign + number + pick(g, "e", "E") + pick(g, "+", "-") + strconv.Itoa(g.random.IntN(20))
	default:
		return sign + number + pick(g, decimalSuffixes...)
	}
}

// mutilated returns a valid quantity with one character changed, removed or added.
func (g *generator) mutilated() string {
	text := []byte(g.legal())
	alphabet := "0123456789.+-eEinumkKMGTP xB"
	at := g.random.IntN(len(text))
	switch g.random.IntN(3) {
	case 0:
		text[at] = alphabet[g.random.IntN(len(alphabet))]
	case 1:
		text = append(text[:at], text[at+1:]...)
	default:
		text = append(text[:at], append([]byte{alphabet[g.random.IntN(len(alphabet))]}, text[at:]...)...)
	}
	return string(text)
}

func (g *generator) digits(count int) string {
	var text strings.Builder
	for range count {
		text.WriteByte(byte('0' + g.random.IntN(10)))
	}
	return text.String()
}

// spell returns an amount of milli units in one of its valid spellings. Not every spelling is
// exact: a few add less than one milli unit, which Kubernetes rounds up.
func (g *generator) spell(milli int64) any {
	whole, rest := milli/1000, milli%1000
	spellings := []any{
		fmt.Sprintf("%dm", milli), fmt.Sprintf("+%dm", milli), fmt.Sprintf("%d.%03d", whole, rest), fmt.Sprintf("%d.%03de0", whole, rest),
		fmt.Sprintf("%de-3", milli), fmt.Sprintf("%dE-3", milli), json.RawMessage(fmt.Sprintf("%d.%03d", whole, rest)),
	}
	if milli < 1e12 {
		spellings = append(spellings, fmt.Sprintf("%d000u", milli), fmt.Sprintf("%d000001n", milli), fmt.Sprintf("%d.5m", milli),
			fmt.Sprintf("%d.%03d0000000001", whole, rest))
	}
	if rest == 0 {
		spellings = append(spellings, strconv.FormatInt(whole, 10), json.RawMessage(strconv.FormatInt(whole, 10)), fmt.Sprintf("00%d", whole),
			fmt.Sprintf("%d.", whole), fmt.Sprintf("%de0", whole))
		for _, unit := range []struct {
			suffix string
			size   int64
		}{
			{"Ki", 1 << 10}, {"Mi", 1 << 20}, {"Gi", 1 << 30}, {"Ti", 1 << 40}, {"Pi", 1 << 50},
			{"k", 1e3}, {"e3", 1e3}, {"M", 1e6}, {"E6", 1e6}, {"G", 1e9}, {"e+9", 1e9}, {"T", 1e12}, {"P", 1e15},
		} {
			if whole == 0 || whole%unit.size == 0 {
				spellings = append(spellings, strconv.FormatInt(whole/unit.size, 10)+unit.suffix)
			} else if whole*2%unit.size == 0 {
				spellings = append(spellings, strconv.FormatInt(whole/unit.size, 10)+".5"+unit.suffix)
			}
		}
	}
	return pick(g, spellings...)
}
