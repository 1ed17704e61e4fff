/** Gets what is at public addresses of the internet, within bounds; delivery/egress.ts does it. */
export interface Outside {
  /** Rejects where there is no complete answer in time. */
  send(request: {
    url: string
    method: 'GET'
    headers: Record<string, string>
    /** For everything together, redirects included. */
    deadlineMs: number
    /** Bytes of the body to keep; where more comes, the answer says that it was cut. */
    keepBytes: number
    redirects?: number
  }): Promise<{ url: URL; status: number; headers: Record<string, string>; body: Buffer }>
}
