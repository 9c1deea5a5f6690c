package summary

import (
	"testing"
	"time"
)

func TestQuantilesAreOfTheNearestRank(t *testing.T) {
	samples := []time.Duration{}
	for i := 100; i >= 1; i-- {
		samples = append(samples, time.Duration(i)*time.Millisecond)
	}
	got := Latencies(samples)
	want := Latency{Count: 100, P50: 50, P90: 90, P99: 99, Max: 100}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := Latencies(samples[:1]); got.P50 != 100 || got.P99 != 100 {
		t.Errorf("one sample: %+v", got)
	}
}

func TestMedianOfEvenCountIsTheMiddle(t *testing.T) {
	if got := Median([]float64{4, 1, 3, 2}); got != 2.5 {
		t.Errorf("got %v", got)
	}
}
