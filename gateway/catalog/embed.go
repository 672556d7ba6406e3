package catalog

import (
	_ "embed"
	"fmt"
	"sync"

	"github.com/goccy/go-yaml"
)

//go:embed providers.yaml
var providersYAML []byte

//go:embed models.yaml
var modelsYAML []byte

// embedded reads the data files of this build. That they are sound is a
// property of the build, which the tests hold it to; so a fault is a bug. Nobody
// may change what it returns.
var embedded = sync.OnceValues(func() (map[string]Row, []family) {
	var rows map[string]Row
	if err := yaml.UnmarshalWithOptions(providersYAML, &rows, yaml.Strict()); err != nil {
		panic(fmt.Sprintf("BUG: providers.yaml: %v", err))
	}
	var families []family
	if err := yaml.UnmarshalWithOptions(modelsYAML, &families, yaml.Strict()); err != nil {
		panic(fmt.Sprintf("BUG: models.yaml: %v", err))
	}
	return rows, families
})
