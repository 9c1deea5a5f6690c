// Command extender measures the scheduler extender beside echo, the smallest one that can be
// written in Go. It does so at several cluster sizes, in alternating blocks, so that both meet the
// same conditions. It prints tables and says which goals are met.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"synergy.io/synergy/tests/bench/internal/summary"
)

type options struct {
	programs string
	command  string
	logs     string
	sizes    []int
	quick    bool
}

func main() {
	log.SetFlags(log.Ltime)
	var o options
	nodes := flag.String("nodes", "100,1000,5000,15000", "cluster sizes to measure")
	jsonFile := flag.String("json", "", "write all figures to this file")
	flag.StringVar(&o.programs, "programs", "build/bench", "folder with the built apistub and echo")
	binary := flag.String("extender-binary", "build/release/bin/synergy-extender", "the program to measure")
	arguments := flag.String("extender-arguments", "--kubeconfig {kubeconfig} --listen {listen}", "its arguments")
	flag.StringVar(&o.logs, "logs", "", "folder for the programs' output; a new one by default")
	flag.BoolVar(&o.quick, "quick", false, "few calls: shows that everything works, measures nothing")
	flag.Parse()

	o.command = *binary + " " + *arguments
	for _, field := range strings.Split(*nodes, ",") {
		size, err := strconv.Atoi(strings.TrimSpace(field))
		if err != nil || size < 1 {
			log.Fatalf("--nodes: %q is not a number of nodes", field)
		}
		o.sizes = append(o.sizes, size)
	}
	missed, err := run(&o, *jsonFile)
	if err != nil {
		log.Fatal(err)
	}
	if missed > 0 {
		fmt.Printf("\n%d goals missed\n", missed)
		os.Exit(1)
	}
}

func run(o *options, jsonFile string) (missed int, err error) {
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
	report := &report{}
	for _, size := range o.sizes {
		result, err := measure(o, size)
		if err != nil {
			return 0, fmt.Errorf("%d nodes: %w", size, err)
		}
		report.Sizes = append(report.Sizes, result)
	}
	if !o.quick {
		report.Goals = goals(report.Sizes)
	}
	report.print(os.Stdout)
	missed = summary.PrintGoals(os.Stdout, report.Goals)
	if jsonFile != "" {
		return missed, summary.WriteJSON(jsonFile, report)
	}
	return missed, nil
}
