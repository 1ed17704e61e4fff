import { useState } from 'preact/hooks'
import { Failure } from '../parts/failure.tsx'
import { Mark } from '../parts/icon.tsx'
import type { Refusal } from '../server/refusal.ts'
import { useServer } from '../server/server.ts'
import { texts } from '../texts.ts'

interface SignInProps {
  hadSession: boolean
  refusal: Refusal | undefined
  onSignedIn: () => Promise<void>
}

/** Asks for an API key. The key is sent once, and not stored: the browser keeps only the session's cookie. */
export function SignIn({ hadSession, refusal, onSignedIn }: SignInProps) {
  const server = useServer()
  const [failure, setFailure] = useState(refusal)
  const [isBusy, setBusy] = useState(false)
  const onSubmit = async (event: SubmitEvent) => {
    event.preventDefault()
    const form = event.currentTarget as HTMLFormElement
    setBusy(true)
    try {
      await server.signIn(String(new FormData(form).get('key') ?? ''))
      await onSignedIn()
    } catch (error) {
      setFailure(error as Refusal)
      setBusy(false)
    }
  }
  return (
    <main class="sign-in">
      <form class="card sign-in-card" onSubmit={onSubmit}>
        <Mark />
        <h1>{texts.signIn.title}</h1>
        <p class="muted">{hadSession ? texts.signIn.ended : texts.signIn.hint}</p>
        {failure && <Failure refusal={failure} />}
        <label class="field">
          <span class="field-label">{texts.signIn.key}</span>
          <input
            name="key"
            type="password"
            autocomplete="current-password"
            placeholder="wys_…"
            spellcheck={false}
            autoFocus
            required
          />
        </label>
        <button class="button primary" disabled={isBusy}>
          {isBusy ? texts.signIn.busy : texts.signIn.submit}
        </button>
        <p class="muted small">{texts.signIn.lost}</p>
      </form>
    </main>
  )
}
