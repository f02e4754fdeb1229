// What `talosctl get` does, through Talos' own client: resolves an alias, lists, gets, watches. Usage: talosget SOCKET TYPE [ID] [-w SECONDS]
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/siderolabs/talos/pkg/machinery/client"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"gopkg.in/yaml.v3"
)

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func show(r resource.Resource) {
	out, err := resource.MarshalYAML(r)
	must(err)
	b, err := yaml.Marshal(out)
	must(err)
	fmt.Println(string(b))
}

func main() {
	ctx := context.Background()
	c, err := client.New(ctx, client.WithUnixSocket(os.Args[1]), client.WithGRPCDialOptions(grpc.WithTransportCredentials(insecure.NewCredentials())))
	must(err)
	defer c.Close()
	ns := ""
	ctx = client.WithNode(ctx, "127.0.0.1")
	rd, err := c.ResolveResourceKind(ctx, &ns, os.Args[2])
	must(err)
	spec := rd.TypedSpec()
	fmt.Printf("type %s namespace %s display %s columns %d sensitivity %q\n", spec.Type, ns, spec.DisplayType, len(spec.PrintColumns), spec.Sensitivity)
	if len(os.Args) > 4 && os.Args[3] == "-w" {
		s, _ := strconv.Atoi(os.Args[4])
		wctx, cancel := context.WithTimeout(ctx, time.Duration(s)*time.Second)
		defer cancel()
		ch := make(chan state.Event)
		must(c.COSI.WatchKind(wctx, resource.NewMetadata(ns, spec.Type, "", resource.VersionUndefined), ch, state.WithBootstrapContents(true), state.WithWatchKindUnmarshalOptions(state.WithSkipProtobufUnmarshal())))
		for {
			select {
			case ev := <-ch:
				if ev.Resource != nil {
					fmt.Println(ev.Type, ev.Resource.Metadata().ID(), ev.Resource.Metadata().Version())
				} else {
					fmt.Println(ev.Type, ev.Error)
				}
			case <-wctx.Done():
				return
			}
		}
	}
	if len(os.Args) > 3 {
		r, err := c.COSI.Get(ctx, resource.NewMetadata(ns, spec.Type, os.Args[3], resource.VersionUndefined))
		must(err)
		show(r)
		return
	}
	items, err := c.COSI.List(ctx, resource.NewMetadata(ns, spec.Type, "", resource.VersionUndefined), state.WithListUnmarshalOptions(state.WithSkipProtobufUnmarshal()))
	must(err)
	for _, r := range items.Items {
		fmt.Println(r.Metadata().ID(), r.Metadata().Version(), r.Metadata().Phase(), r.Metadata().Owner())
	}
}
