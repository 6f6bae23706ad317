// Calls of the API. Every failure is an Error whose message is for people.

export class APIError extends Error {
  constructor(status, body) {
    super(body?.error || `clank answered with status ${status}`);
    this.status = status;
    this.body = body;
  }
}

export async function api(method, path, body) {
  let response;
  try {
    response = await fetch(path, {
      method,
      headers: method === "GET" ? {} : { "Content-Type": "application/json" },
      body: method === "GET" ? undefined : JSON.stringify(body ?? {}),
      signal: AbortSignal.timeout(30_000),
    });
  } catch {
    throw new Error("clank cannot be reached. Is it still running?");
  }
  if (response.status === 204) return null;
  const answer = await response.json().catch(() => null);
  if (response.status === 401 && !location.pathname.startsWith("/login")) {
    location.href = "/login";
  }
  if (!response.ok) throw new APIError(response.status, answer);
  return answer;
}
