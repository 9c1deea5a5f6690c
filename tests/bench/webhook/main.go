// Command webhook measures synergy-controller's reviews of GPU pods. It sends them as an API server
// does: over TLS, on connections that stay open, in a cluster whose pods come and go meanwhile.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"synergy.io/synergy/tests/bench/internal/child"
	"synergy.io/synergy/tests/bench/internal/review"
	"synergy.io/synergy/tests/bench/internal/summary"
)

type options struct {
	programs   string
	controller string
	logs       string
	nodes      int
	reviews    int
}

// report is everything that is measured.
type report struct {
	Nodes  int                  `json:"nodes"`
	Ready  summary.Milliseconds `json:"ready_ms"`
	Memory child.Memory         `json:"memory"`
	Loads  []loadResult         `json:"loads"`
	Goals  []summary.Goal       `json:"goals,omitempty"`
}

// goal is the fraction of reviews that the controller has to answer within a millisecond after it
// has received them.
const goal = 0.99

func main() {
	log.SetFlags(log.Ltime)
	var o options
	flag.StringVar(&o.programs, "programs", "build/bench", "folder with the built apistub")
	flag.StringVar(&o.controller, "controller-binary", "build/release/bin/synergy-controller", "the program to measure")
	flag.IntVar(&o.nodes, "nodes", 5000, "nodes of the cluster")
	flag.IntVar(&o.reviews, "reviews", 5000, "reviews of each load")
	jsonFile := flag.String("json", "", "write all figures to this file")
	flag.Parse()
	result, err := run(&o)
	if err != nil {
		log.Fatal(err)
	}
	result.print()
	missed := summary.PrintGoals(os.Stdout, result.Goals)
	if *jsonFile != "" {
		if err := summary.WriteJSON(*jsonFile, result); err != nil {
			log.Fatal(err)
		}
	}
	if missed > 0 {
		os.Exit(1)
	}
}

func run(o *options) (*report, error) {
	folder, err := os.MkdirTemp("", "synergy-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	o.logs = folder
	kubeconfig := filepath.Join(folder, "kubeconfig")
	stub, err := child.Start("apistub", filepath.Join(folder, "apistub.log"), filepath.Join(o.programs, "apistub"),
		"--nodes", fmt.Sprint(o.nodes), "--kubeconfig", kubeconfig)
	if err != nil {
		return nil, err
	}
	defer stub.Stop()
	apiAddress, err := stub.WaitListening(2 * time.Minute)
	if err != nil {
		return nil, err
	}
	webhook, err := child.FreeAddress()
	if err != nil {
		return nil, err
	}
	plain, err := child.FreeAddress()
	if err != nil {
		return nil, err
	}
	authority, err := review.WriteCertificate(folder)
	if err != nil {
		return nil, err
	}
	started := time.Now()
	controller, err := child.Start("controller", filepath.Join(folder, "controller.log"), o.controller,
		"--kubeconfig", kubeconfig, "--listen", webhook, "--http-listen", plain,
		"--tls-cert-file", filepath.Join(folder, "tls.crt"), "--tls-private-key-file", filepath.Join(folder, "tls.key"))
	if err != nil {
		return nil, err
	}
	defer controller.Stop()
	if err := controller.WaitReady("http://"+plain+"/readyz", time.Minute); err != nil {
		return nil, err
	}
	var before *buckets
	result := &report{Nodes: o.nodes, Ready: summary.Of(time.Since(started))}
	for _, l := range loads {
		log.Printf("%d reviews, %s", o.reviews, l.name)
		measured, err := l.measure("https://"+webhook+"/mutate-pod", "http://"+apiAddress, authority, o.reviews)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", l.name, err)
		}
		after, err := readBuckets("http://" + plain + "/metrics")
		if err != nil {
			return nil, err
		}
		measured.Within = after.within("0.001", before)
		before = after
		result.Loads = append(result.Loads, *measured)
		result.Goals = append(result.Goals, summary.AtLeast("own time below 1 ms, "+l.name, measured.Within, goal))
	}
	if result.Memory, err = controller.Memory(); err != nil {
		return nil, err
	}
	return result, nil
}

func (r *report) print() {
	fmt.Printf("%d nodes: ready after %.0f ms, %.0f MiB resident\n", r.Nodes, r.Ready, r.Memory.ResidentMiB)
	rows := [][]string{}
	for _, l := range r.Loads {
		rows = append(rows, []string{
			l.Name, fmt.Sprint(l.Bytes), fmt.Sprintf("%.3f", l.Latency.P50), fmt.Sprintf("%.3f", l.Latency.P90),
			fmt.Sprintf("%.3f", l.Latency.P99), fmt.Sprintf("%.3f", l.Latency.Max), fmt.Sprintf("%.0f", l.PerSecond), fmt.Sprintf("%.2f %%", 100*l.Within),
		})
	}
	summary.Table(os.Stdout, "Reviews of GPU pods, round trip in ms", []string{"load", "bytes", "p50", "p90", "p99", "max", "per second", "own time below 1 ms"}, rows)
}
