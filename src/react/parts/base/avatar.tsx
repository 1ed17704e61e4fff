export interface Named {
  name: string
  avatar_url?: string
}

/** A picture of someone, or their initials on a colour of theirs. It repeats a name that stands beside it. */
export function Avatar({ of, isPresent }: { of: Named; isPresent?: boolean | undefined }) {
  return (
    <span className="pl-avatar" data-hue={toHue(of.name)} data-present={isPresent || undefined} aria-hidden="true">
      {of.avatar_url === undefined ? toInitials(of.name) : <img src={of.avatar_url} alt="" loading="lazy" />}
    </span>
  )
}

/** The same name has the same colour everywhere. */
function toHue(name: string): number {
  return Array.from(name).reduce((sum, letter) => sum + letter.codePointAt(0)!, 0) % 8
}

function toInitials(name: string): string {
  const words = name.split(/\s+/).filter(word => /^[\p{L}\p{N}]/u.test(word))
  const letters = [words[0], words.length > 1 ? words.at(-1) : undefined].map(word => Array.from(word ?? '')[0] ?? '')
  return letters.join('').toUpperCase()
}
