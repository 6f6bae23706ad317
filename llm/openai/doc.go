// Package openai talks to OpenAI over the Responses API, and to compatible servers (Ollama, OpenRouter,
// vLLM, LM Studio, llama.cpp) over chat completions.
//
// Every call is streamed, so that silence is noticed. It keeps no state: conversations are sent in full and
// nothing is stored at the vendor. The library's own retries are off, since nobody would see them. Computer
// use is in computeruse/openai.
package openai
