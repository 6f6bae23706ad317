// Package openai is the Mind of OpenAI's models that work a screen: the tool "computer" of the Responses API, and
// "computer_use_preview" for gateways that know no other.
//
// Requests, errors and retries are those of llm/openai. It only translates; it does nothing to a screen.
package openai
