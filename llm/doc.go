// Package llm is the vocabulary in which the program talks to language models: messages, tools, the Model
// interface, capabilities, usage, prices, errors that say what a person can do.
//
// What only one model of one server understands (signed thinking, encrypted reasoning) travels as opaque
// parts that name their owner. Prices are a dated list. It is not a client; vendors are below.
package llm
