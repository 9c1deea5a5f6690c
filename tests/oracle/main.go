// Command oracle answers accounting questions with kube-scheduler's own code, so that another implementation of the same
// accounting can be compared with it. docs/internals/accounting.md states the formula in words.
//
//	oracle answer   < inputs > answers        (also without a subcommand)
//	oracle generate --seed S --count N --kind mixes|pods|quantities
//	oracle --features
//
// Inputs and answers are JSON, one object per line; line n of the answers belongs to line n of the inputs. An input is one
// of three shapes:
//
//	{"quantity": Q}                    Q is decoded as in a Kubernetes object: a string, a number or null
//	{"pod": {...}}                     how much the pod requests
//	{"node": {...}, "pods": [...], "pod": {...}}   whether the pod fits the node beside the pods
//
// The answer to a quantity is Quantity.Value() and MilliValue(), and for each whether the true result fits into an int64;
// where it does not, Kubernetes' number is an accident of its arithmetic and nothing should be compared with it:
//
//	{"value": 1, "milli": 500, "valueInRange": true, "milliInRange": true}
//
// The answer to a pod has two requests, in milli CPU, bytes and whole units; scalar resources that are zero are left out:
//
//	incoming   what NodeResourcesFit computes in PreFilter for a pod that is to be placed (the spec alone)
//	accounted  what NodeInfo.AddPod adds to a node for a pod that is on it (spec, allocated and actual resources)
//
// The answer to a mix holds both for "pod", and
//
//	fits           NodeResourcesFit's Filter accepts
//	reasons        its reasons: pods, cpu, memory, ephemeral-storage, then scalar resources by name
//	unresolvable   the Filter's status says that preemption cannot help
//	unschedulable  NodeUnschedulable's Filter rejects (node.spec.unschedulable and no toleration)
//	allocatable, requested, podCount   the node's side of the comparison, for diagnosis
//
// Which pods count is decided as kube-scheduler's informer and cache do: spec.nodeName names the node and the phase is
// neither Succeeded nor Failed; a deletionTimestamp changes nothing. Objects are decoded with the API machinery's decoder
// (case-sensitive) but not defaulted: what a scheduler reads from an API server has been defaulted there already.
// Dynamic resource allocation is left out, and all feature gates have their defaults.
//
// An input that cannot be decoded is answered with {"error": "..."}.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "oracle:", err)
		os.Exit(1)
	}
}

func run(args []string, in io.Reader, out io.Writer) error {
	command := "answer"
	if len(args) > 0 && (args[0] == "answer" || args[0] == "generate") {
		command, args = args[0], args[1:]
	}
	flags := flag.NewFlagSet("oracle "+command, flag.ContinueOnError)
	features := flags.Bool("features", false, "print the feature gates that change the accounting, and stop")
	seed := flags.Uint64("seed", 1, "generate: seed; equal seeds give equal inputs")
	count := flags.Int("count", 1000, "generate: number of inputs")
	kind := flags.String("kind", "mixes", "generate: mixes, pods or quantities")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	writer := bufio.NewWriterSize(out, 1<<16)
	defer writer.Flush()
	switch {
	case *features:
		return writeLine(writer, featureGates())
	case command == "generate":
		return generate(writer, *seed, *count, *kind)
	default:
		return answerAll(in, writer)
	}
}

func writeLine(out io.Writer, value any) error {
	line, err := json.Marshal(value)
	if err != nil {
		return err
	}
	_, err = out.Write(append(line, '\n'))
	return err
}
