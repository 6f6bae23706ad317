// Package openai implements computer use with OpenAI's models: the tool "computer" of the Responses API, and
// "computer_use_preview" for gateways that only know that.
//
// Requests, errors and retries are those of llm/openai. The package only translates; it does not act on a screen.
package openai
