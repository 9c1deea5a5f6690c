package main

import (
	"bufio"
	"fmt"
	"math/rand/v2"
)

// object is a JSON object under construction. Objects are generated as JSON, not as Kubernetes' Go
// types, because those would write every quantity in its canonical spelling.
type object map[string]any

// generator makes random inputs. A failing test prints its seed, so its output depends on nothing
// else.
type generator struct {
	random     *rand.Rand
	calculator *calculator
}

func generate(out *bufio.Writer, seed uint64, count int, kind string) error {
	calculator, err := newCalculator()
	if err != nil {
		return err
	}
	g := &generator{random: rand.New(rand.NewPCG(seed, 0x53796e65726779)), calculator: calculator}
	for range count {
		var line object
		switch kind {
		case "mixes":
			if line, err = g.mix(); err != nil {
				return err
			}
		case "pods":
			line = object{"pod": g.boundPod(0)}
		case "quantities":
			line = object{"quantity": g.quantity()}
		default:
			return fmt.Errorf("--kind must be mixes, pods or quantities, not %q", kind)
		}
		if err := writeLine(out, line); err != nil {
			return err
		}
	}
	return nil
}

// chance is true once in n times on average.
func (g *generator) chance(n int) bool { return g.random.IntN(n) == 0 }

func pick[T any](g *generator, choices ...T) T { return choices[g.random.IntN(len(choices))] }
