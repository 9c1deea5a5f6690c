// Package summary turns samples into the few figures that the benchmarks report.
package summary

import (
	"math"
	"slices"
	"time"
)

// Milliseconds is a duration as reports write it.
type Milliseconds float64

// Of converts a duration.
func Of(duration time.Duration) Milliseconds {
	return Milliseconds(float64(duration) / float64(time.Millisecond))
}

// Latency describes the distribution of durations.
type Latency struct {
	Count int          `json:"count"`
	P50   Milliseconds `json:"p50_ms"`
	P90   Milliseconds `json:"p90_ms"`
	P99   Milliseconds `json:"p99_ms"`
	Max   Milliseconds `json:"max_ms"`
}

// Latencies summarises samples.
func Latencies(samples []time.Duration) Latency {
	if len(samples) == 0 {
		return Latency{}
	}
	sorted := slices.Sorted(slices.Values(samples))
	at := func(quantile float64) Milliseconds { return Of(sorted[rank(quantile, len(sorted))]) }
	return Latency{Count: len(sorted), P50: at(0.50), P90: at(0.90), P99: at(0.99), Max: at(1)}
}

// rank is the nearest-rank index of a quantile.
func rank(quantile float64, count int) int {
	return max(0, int(math.Ceil(quantile*float64(count)))-1)
}

// Median is the middle value, or the mean of the two middle values.
func Median(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}

// Goal is a figure and its limit.
type Goal struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Limit float64 `json:"limit"`
	// AtLeast: the limit is a lower bound; otherwise it is an upper bound.
	AtLeast bool `json:"at_least,omitempty"`
	Met     bool `json:"met"`
}

// AtMost is a goal with an upper bound.
func AtMost(name string, value, limit float64) Goal {
	return Goal{Name: name, Value: value, Limit: limit, Met: value <= limit}
}

// AtLeast is a goal with a lower bound.
func AtLeast(name string, value, limit float64) Goal {
	return Goal{Name: name, Value: value, Limit: limit, AtLeast: true, Met: value >= limit}
}
