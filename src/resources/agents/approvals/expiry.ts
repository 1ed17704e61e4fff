/** How long a question stays open. A rule of the API. */
export const lapseHours = 24

export function toExpiry(createdAt: Date): Date {
  return new Date(createdAt.getTime() + lapseHours * 3_600_000)
}
