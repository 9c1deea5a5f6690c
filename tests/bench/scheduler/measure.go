package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"time"

	"synergy.io/synergy/tests/bench/internal/summary"
)

type roundResult struct {
	Variant       string  `json:"variant"`
	Round         int     `json:"round"`
	PodsPerSecond float64 `json:"pods_per_second"`
}

type report struct {
	Pods   int                `json:"pods_per_round"`
	Rounds []roundResult      `json:"rounds"`
	Median map[string]float64 `json:"median_pods_per_second"`
	Goals  []summary.Goal     `json:"goals"`
}

func measure(ctx context.Context, o *options, c *cluster) (*report, error) {
	variants := o.variants()
	result := &report{Pods: o.pods, Median: map[string]float64{}}
	// A first round, which does not count, fills the API server's caches and opens connections.
	if _, err := runRound(ctx, o, c, variants[len(variants)-1], "warm-up", max(2, o.pods/5)); err != nil {
		return nil, err
	}
	rates := map[string][]float64{}
	for round := 1; round <= o.rounds; round++ {
		for i := range variants {
			v := variants[(i+round)%len(variants)]
			rate, err := runRound(ctx, o, c, v, fmt.Sprintf("%s-%d", v.name, round), o.pods)
			if err != nil {
				return nil, fmt.Errorf("%s, round %d: %w", v.name, round, err)
			}
			log.Printf("round %d, %s: %.1f pods/s", round, v.name, rate)
			result.Rounds = append(result.Rounds, roundResult{v.name, round, rate})
			rates[v.name] = append(rates[v.name], rate)
		}
	}
	for name, values := range rates {
		result.Median[name] = summary.Median(values)
	}
	result.Goals = []summary.Goal{
		summary.AtLeast("pods/s, ours/echo", result.Median["ours"]/result.Median["echo"], 0.95),
	}
	return result, nil
}

// runRound creates pods that no scheduler places yet, starts the variant, and measures until all
// are bound. So the rate includes neither the creation of the pods nor the start of the programs.
func runRound(ctx context.Context, o *options, c *cluster, v variant, round string, pods int) (float64, error) {
	if err := c.createPods(ctx, round, v.schedulerName(), pods); err != nil {
		return 0, err
	}
	bound, err := c.watchBindings(ctx, round, pods)
	if err != nil {
		return 0, err
	}
	stop, err := v.start(o, round)
	if err != nil {
		bound.stop()
		return 0, err
	}
	rate, err := bound.wait(ctx, 5*time.Minute)
	stop()
	if err != nil {
		return 0, err
	}
	return rate, c.deletePods(ctx)
}

func (r *report) print(out io.Writer) {
	rows := [][]string{}
	for _, name := range []string{"ours", "echo", "none"} {
		row := []string{name, fmt.Sprintf("%.1f", r.Median[name]), fmt.Sprintf("%.2f", r.Median[name]/r.Median["none"])}
		for _, round := range r.Rounds {
			if round.Variant == name {
				row = append(row, fmt.Sprintf("%.1f", round.PodsPerSecond))
			}
		}
		rows = append(rows, row)
	}
	summary.Table(out, fmt.Sprintf("kube-scheduler with an extender: pods bound per second (%d pods a round)", r.Pods),
		[]string{"extender", "median", "of none", "rounds"}, rows)
}
