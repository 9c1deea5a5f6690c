// Command scheduler measures how many pods per second a real kube-scheduler binds in a real
// cluster: with the scheduler extender, with echo, the smallest one that can be written in Go, and
// without an extender, in alternating rounds.
//
// It needs a cluster whose nodes have enough free GPUs. It starts only its own kube-schedulers, one
// for each round, and the extenders that they call.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"synergy.io/synergy/tests/bench/internal/summary"
)

type options struct {
	kubeconfig    string
	kubeScheduler string
	programs      string
	command       string
	logs          string
	pods          int
	rounds        int
}

func main() {
	log.SetFlags(log.Ltime)
	var o options
	flag.StringVar(&o.kubeconfig, "kubeconfig", os.Getenv("KUBECONFIG"), "administrator of the cluster (default $KUBECONFIG)")
	flag.StringVar(&o.kubeScheduler, "kube-scheduler", "", "kube-scheduler's program file")
	flag.StringVar(&o.programs, "programs", "build/bench", "folder with the built echo")
	binary := flag.String("extender-binary", "build/release/bin/synergy-extender", "the extender to measure")
	arguments := flag.String("extender-arguments", "--kubeconfig {kubeconfig} --listen {listen}", "its arguments")
	flag.StringVar(&o.logs, "logs", "", "folder for the programs' output; a new one by default")
	flag.IntVar(&o.pods, "pods", 1000, "pods to bind in each round")
	flag.IntVar(&o.rounds, "rounds", 5, "rounds for each of the three, at least 3 for figures to quote")
	jsonFile := flag.String("json", "", "write all figures to this file")
	flag.Parse()
	o.command = *binary + " " + *arguments
	if o.kubeconfig == "" || o.kubeScheduler == "" || o.pods < 2 || o.rounds < 1 {
		flag.Usage()
		os.Exit(2)
	}

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	missed, err := run(ctx, &o, *jsonFile)
	if err != nil {
		stop()
		log.Fatal(err)
	}
	if missed > 0 {
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, o *options, jsonFile string) (missed int, err error) {
	if o.logs == "" {
		if o.logs, err = os.MkdirTemp("", "synergy-bench-"); err != nil {
			return 0, err
		}
		defer func() {
			if err == nil {
				_ = os.RemoveAll(o.logs)
			}
		}()
	} else if err := os.MkdirAll(o.logs, 0o755); err != nil {
		return 0, err
	}
	if o.logs, err = filepath.Abs(o.logs); err != nil {
		return 0, err
	}
	cluster, err := connect(o.kubeconfig)
	if err != nil {
		return 0, err
	}
	if err := cluster.prepare(ctx); err != nil {
		return 0, err
	}
	defer cluster.cleanUp()
	result, err := measure(ctx, o, cluster)
	if err != nil {
		return 0, fmt.Errorf("%w (programs' output: %s)", err, o.logs)
	}
	result.print(os.Stdout)
	missed = summary.PrintGoals(os.Stdout, result.Goals)
	if jsonFile != "" {
		return missed, summary.WriteJSON(jsonFile, result)
	}
	return missed, nil
}
