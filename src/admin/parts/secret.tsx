import { useState } from 'preact/hooks'
import { texts } from '../texts.ts'
import { useClose } from './desk.tsx'
import { Dialog } from './dialog.tsx'
import { Icon } from './icon.tsx'

interface SecretProps {
  title: string
  text: string
  value: string
}

/** Shows what is never shown again. */
export function SecretDialog({ title, text, value }: SecretProps) {
  const close = useClose()
  return (
    <Dialog title={title}>
      <div class="form">
        <p>{text}</p>
        <Copyable value={value} />
        <footer class="actions">
          <button type="button" class="button primary" onClick={close}>
            {texts.secret.done}
          </button>
        </footer>
      </div>
    </Dialog>
  )
}

/** A value that can be copied, by a button or by hand. */
function Copyable({ value }: { value: string }) {
  const [isCopied, setCopied] = useState(false)
  const copy = async () => {
    // Over plain HTTP browsers have no clipboard: then it is selected, to be copied by hand.
    await navigator.clipboard?.writeText(value).then(
      () => setCopied(true),
      () => setCopied(false),
    )
  }
  return (
    <div class="copyable">
      <input
        class="code"
        readOnly
        value={value}
        aria-label={texts.secret.value}
        onFocus={event => event.currentTarget.select()}
      />
      <button type="button" class="button" onClick={copy}>
        <Icon name={isCopied ? 'check' : 'copy'} />
        {isCopied ? texts.secret.copied : texts.secret.copy}
      </button>
    </div>
  )
}
