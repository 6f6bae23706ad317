package field

import "clank/internal/hostile/corpus"

// Some are the cases that the options take.
func (o Options) Some(cases []corpus.Case) []corpus.Case { return o.some(cases) }
