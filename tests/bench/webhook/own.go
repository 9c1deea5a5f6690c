package main

import (
	"bufio"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// buckets has the controller's own counts of reviews, by their longest duration in seconds.
type buckets struct {
	limits []string
	counts []float64
}

// readBuckets reads the histogram of the controller's own time for a review, from the whole request
// to the whole answer.
func readBuckets(url string) (*buckets, error) {
	response, err := http.Get(url)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	b := &buckets{}
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		rest, found := strings.CutPrefix(lines.Text(), `synergy_controller_pod_review_duration_seconds_bucket{le="`)
		if !found {
			continue
		}
		limit, count, _ := strings.Cut(rest, `"} `)
		value, err := strconv.ParseFloat(count, 64)
		if err != nil {
			return nil, err
		}
		b.limits, b.counts = append(b.limits, limit), append(b.counts, value)
	}
	if len(b.counts) == 0 {
		return nil, fmt.Errorf("%s has no reviews", url)
	}
	return b, lines.Err()
}

// within returns the fraction of reviews since `before` that took at most `limit`.
func (b *buckets) within(limit string, before *buckets) float64 {
	last := len(b.counts) - 1
	all, some := b.counts[last], 0.0
	if before != nil {
		all -= before.counts[last]
	}
	for i := range b.limits {
		if b.limits[i] == limit {
			some = b.counts[i]
			if before != nil {
				some -= before.counts[i]
			}
		}
	}
	return some / all
}
