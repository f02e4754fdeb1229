// Command engine runs a controller runtime of Go's on a State that another program serves, until it is told to stop:
// go run ./engine -socket state.sock -ints-to-strs one:two -strs-to-sentences three:four
package main

import (
	"context"
	"flag"
	"log"
	"os/signal"
	"strings"
	"syscall"

	"github.com/cosi-project/runtime/api/v1alpha1"
	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/controller/conformance"
	"github.com/cosi-project/runtime/pkg/controller/runtime"
	"github.com/cosi-project/runtime/pkg/resource/protobuf"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/cosi-project/runtime/pkg/state/protobuf/client"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// namespaces splits SOURCE:TARGET.
func namespaces(pair string) (source, target string) {
	source, target, ok := strings.Cut(pair, ":")
	if !ok {
		log.Fatalf("want SOURCE:TARGET, got %q", pair)
	}

	return source, target
}

func main() {
	socket := flag.String("socket", "state.sock", "unix socket of the State")
	ints := flag.String("ints-to-strs", "one:two", "SOURCE:TARGET namespaces")
	strs := flag.String("strs-to-sentences", "three:four", "SOURCE:TARGET namespaces")

	flag.Parse()
	must(protobuf.RegisterResource(conformance.IntResourceType, &conformance.IntResource{}))
	must(protobuf.RegisterResource(conformance.StrResourceType, &conformance.StrResource{}))
	must(protobuf.RegisterResource(conformance.SentenceResourceType, &conformance.SentenceResource{}))

	conn, err := grpc.NewClient("unix://"+*socket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	must(err)

	rt, err := runtime.NewRuntime(state.WrapCore(client.NewAdapter(v1alpha1.NewStateClient(conn))), zap.NewNop())
	must(err)

	intSource, intTarget := namespaces(*ints)
	strSource, strTarget := namespaces(*strs)

	for _, ctrl := range []controller.Controller{
		&conformance.IntToStrController{SourceNamespace: intSource, TargetNamespace: intTarget},
		&conformance.StrToSentenceController{SourceNamespace: strSource, TargetNamespace: strTarget},
	} {
		must(rt.RegisterController(ctrl))
	}

	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()

	must(rt.Run(ctx))
}
