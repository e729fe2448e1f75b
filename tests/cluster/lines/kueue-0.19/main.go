// The programs of a control plane in one binary, so that what they share is compiled and linked once.
// The first argument says which: etcd, kube-apiserver, kube-controller-manager or kube-scheduler. One more,
// "certificates FOLDER", makes what they identify themselves with.
package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllers "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

var commands = map[string]func() *cobra.Command{
	"kube-apiserver":          apiserver.NewAPIServerCommand,
	"kube-controller-manager": controllers.NewControllerManagerCommand,
	"kube-scheduler":          func() *cobra.Command { return scheduler.NewSchedulerCommand() },
}

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: control-plane etcd|kube-apiserver|kube-controller-manager|kube-scheduler|certificates ...")
		os.Exit(2)
	}
	name, arguments := os.Args[1], append([]string{os.Args[1]}, os.Args[2:]...)
	os.Args = arguments // cobra and etcd read the flags from here
	switch {
	case name == "etcd":
		etcdmain.Main(arguments)
		return
	case name == "certificates" && len(arguments) == 2:
		if err := certificates(arguments[1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	command, known := commands[name]
	if !known {
		fmt.Fprintln(os.Stderr, "unknown program:", name)
		os.Exit(2)
	}
	os.Exit(cli.Run(command()))
}
