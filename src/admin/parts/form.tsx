import { createContext, type ComponentChildren } from 'preact'
import { useContext, useState } from 'preact/hooks'
import { Refusal, toRefusal } from '../server/refusal.ts'
import { texts } from '../texts.ts'
import { useClose, useDesk } from './desk.tsx'
import { Dialog } from './dialog.tsx'
import { Failure } from './failure.tsx'

/** What fields hold, by their names: text as it was typed, and of those that can be chosen together each. */
export class Values {
  readonly #data: FormData

  constructor(data: FormData) {
    this.#data = data
  }

  text(name: string): string {
    return String(this.#data.get(name) ?? '')
  }

  /** Null where nothing was typed: the API clears by it. */
  textOrNull(name: string): string | null {
    const text = this.text(name).trim()
    return text === '' ? null : text
  }

  all(name: string): string[] {
    return this.#data.getAll(name).map(String)
  }

  /** Words with commas or lines between them. */
  words(name: string): string[] {
    return this.text(name)
      .split(/[\s,]+/)
      .filter(word => word !== '')
  }

  /** Undefined where nothing was typed. Refuses what is no JSON, at the field, as the server would. */
  json(name: string): unknown {
    const text = this.text(name).trim()
    if (text === '') return undefined
    try {
      return JSON.parse(text) as unknown
    } catch (error) {
      throw new Refusal(422, { title: texts.failure.notJson, errors: { [name]: [(error as Error).message] } })
    }
  }

  isOn(name: string): boolean {
    return this.#data.has(name)
  }
}

const ErrorsContext = createContext<Record<string, string[]>>({})

/** What the server found wrong with a field of the form around it. */
export function useFieldErrors(name: string): string[] {
  const errors = useContext(ErrorsContext)
  return Object.entries(errors).flatMap(([path, messages]) =>
    path === name || path.startsWith(`${name}.`) || path.startsWith(`${name}[`) ? messages : [],
  )
}

interface FormProps {
  submit: string
  isDangerous?: boolean
  isDisabled?: boolean
  /**
   * Does what is asked for. Its result is shown in a notice, and what it rejects with below the fields, which show what is
   * wrong with them.
   */
  onSubmit: (values: Values) => Promise<string | void>
  onCancel?: () => void
  children: ComponentChildren
}

/** Fields, and a button that does something with them. */
export function Form({ submit, isDangerous, isDisabled, onSubmit, onCancel, children }: FormProps) {
  const desk = useDesk()
  const [failure, setFailure] = useState<Refusal>()
  const [isBusy, setBusy] = useState(false)
  const send = async (event: SubmitEvent) => {
    event.preventDefault()
    const values = new Values(new FormData(event.currentTarget as HTMLFormElement))
    setBusy(true)
    setFailure(undefined)
    try {
      const notice = await onSubmit(values)
      if (notice) desk.notify(notice)
    } catch (error) {
      setFailure(toRefusal(error))
    } finally {
      setBusy(false)
    }
  }
  return (
    <form class="form" onSubmit={send}>
      <ErrorsContext.Provider value={failure?.errors ?? {}}>{children}</ErrorsContext.Provider>
      {failure && <Failure refusal={failure} />}
      <footer class="actions">
        {onCancel && (
          <button type="button" class="button" onClick={onCancel}>
            {texts.cancel}
          </button>
        )}
        <button class={isDangerous ? 'button danger' : 'button primary'} disabled={isBusy || isDisabled}>
          {isBusy ? texts.busy : submit}
        </button>
      </footer>
    </form>
  )
}

/** What the dialog of a view is given. */
export interface DialogProps {
  /** Called when something was changed. */
  onDone: () => void
}

/** A form in a dialog, which closes when it is done. */
export function FormDialog({ title, onSubmit, ...form }: FormProps & { title: string }) {
  const close = useClose()
  return (
    <Dialog title={title}>
      <Form
        {...form}
        onCancel={close}
        onSubmit={async values => {
          const notice = await onSubmit(values)
          close()
          return notice
        }}
      />
    </Dialog>
  )
}
