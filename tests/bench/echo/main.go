// Command echo is the smallest scheduler extender that can be written with Go's standard library
// and Kubernetes' types: it decodes every request and accepts every node. Benchmarks compare with
// it, because it is the least that an extender written like most others can cost.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"

	extenderv1 "k8s.io/kube-scheduler/extender/v1"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:0", "address to listen on")
	kubeconfig := flag.String("kubeconfig", "", "bind pods through this API server; without it bind is refused")
	flag.Parse()

	mux := http.NewServeMux()
	mux.HandleFunc("POST /filter", filter)
	mux.HandleFunc("POST /prioritize", prioritize)
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	if *kubeconfig != "" {
		bind, err := newBinder(*kubeconfig)
		if err != nil {
			log.Fatal(err)
		}
		mux.HandleFunc("POST /bind", bind)
	}
	listener, err := net.Listen("tcp", *listen)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("listening", listener.Addr())
	log.Fatal(http.Serve(listener, mux))
}

func decode[T any](w http.ResponseWriter, r *http.Request) (*T, bool) {
	args := new(T)
	if err := json.NewDecoder(r.Body).Decode(args); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return nil, false
	}
	return args, true
}

func reply(w http.ResponseWriter, answer any) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(answer); err != nil {
		log.Print(err)
	}
}

func filter(w http.ResponseWriter, r *http.Request) {
	if args, ok := decode[extenderv1.ExtenderArgs](w, r); ok {
		reply(w, extenderv1.ExtenderFilterResult{Nodes: args.Nodes, NodeNames: args.NodeNames})
	}
}

func prioritize(w http.ResponseWriter, r *http.Request) {
	args, ok := decode[extenderv1.ExtenderArgs](w, r)
	if !ok {
		return
	}
	priorities := extenderv1.HostPriorityList{}
	add := func(name string) {
		score := int64(len(priorities)) % (extenderv1.MaxExtenderPriority + 1)
		priorities = append(priorities, extenderv1.HostPriority{Host: name, Score: score})
	}
	if args.NodeNames != nil {
		for _, name := range *args.NodeNames {
			add(name)
		}
	} else if args.Nodes != nil {
		for i := range args.Nodes.Items {
			add(args.Nodes.Items[i].Name)
		}
	}
	reply(w, priorities)
}
