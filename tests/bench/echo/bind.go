package main

import (
	"net/http"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
)

// newBinder returns a handler that binds with the client and the encoding that kube-scheduler
// itself uses.
func newBinder(kubeconfig string) (http.HandlerFunc, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	config.QPS, config.Burst = 5000, 5000
	config.AcceptContentTypes, config.ContentType = runtime.ContentTypeProtobuf+","+runtime.ContentTypeJSON, runtime.ContentTypeProtobuf
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	return func(w http.ResponseWriter, r *http.Request) {
		args, ok := decode[extenderv1.ExtenderBindingArgs](w, r)
		if !ok {
			return
		}
		var answer extenderv1.ExtenderBindingResult
		err := client.CoreV1().Pods(args.PodNamespace).Bind(r.Context(), &v1.Binding{
			ObjectMeta: metav1.ObjectMeta{Namespace: args.PodNamespace, Name: args.PodName, UID: args.PodUID},
			Target:     v1.ObjectReference{Kind: "Node", Name: args.Node},
		}, metav1.CreateOptions{})
		if err != nil {
			answer.Error = err.Error()
		}
		reply(w, answer)
	}, nil
}
