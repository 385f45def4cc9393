import type { MailWords } from './en.ts'

/** The words of every mail in German. */
export const de: MailWords = {
  time: (at) =>
    `${at.toLocaleString('de-DE', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' })} Uhr (UTC)`,
  openAddress: 'Falls die Schaltfläche nicht funktioniert, öffnen Sie diese Adresse:',
  support: 'Hilfe',
  invitation: {
    subject: 'Sie wurden eingeladen',
    heading: (tenant) => ['Einladung zu ', tenant],
    somebody: 'Eine Person aus der Verwaltung',
    what: (inviter, tenant, role) => [
      ...inviter,
      ' hat Sie zu „',
      tenant,
      `“ eingeladen. Ihre Rolle dort: ${role}.`,
    ],
    next: (address) => [
      'Öffnen Sie die Einladung und melden Sie sich mit ',
      address,
      ' an, um sie anzunehmen oder abzulehnen. Der Link ist nur für Sie bestimmt und funktioniert einmal.',
    ],
    action: 'Einladung ansehen',
    expires: 'Gültig bis',
    footer: [
      'Sie werden nur dann Mitglied, wenn Sie die Einladung annehmen.',
      'Wenn Sie den Absender nicht kennen, können Sie diese Mail ignorieren.',
    ],
  },
  alert: {
    kinds: {
      'endpoint.failing': {
        subject: 'Ein Webhook-Endpunkt nimmt nichts an',
        what: (host) =>
          `Der Webhook-Endpunkt ${host} nimmt nichts an: Alle Versuche einer Zustellung sind gescheitert.`,
        next: 'Neue Ereignisse werden weiter an ihn gesendet. Eine gescheiterte Zustellung wird nach 1, 5, 15 und 60 Minuten wiederholt, danach alle 6 Stunden; sobald eine gelingt, folgen die übrigen.',
      },
      'endpoint.disabled': {
        subject: 'Ein Webhook-Endpunkt wurde abgeschaltet',
        what: (host) =>
          `Der Webhook-Endpunkt ${host} wurde abgeschaltet: Er hat fünf Tage lang nichts angenommen.`,
        next: 'Es wird nichts mehr an ihn gesendet, bis Sie ihn einschalten, es sei denn, Sie haben Probezustellungen erlaubt. Seine Ereignisse bleiben erhalten und können erneut gesendet werden.',
      },
      'endpoint.recovering': {
        subject: 'Ein Webhook-Endpunkt erholt sich',
        what: (host) =>
          `Der Webhook-Endpunkt ${host} hat wieder eine Zustellung angenommen. Die gescheiterten werden erneut gesendet, anfangs langsam.`,
        next: 'Scheitert er wieder, ruhen die Zustellungen bis zur nächsten Probe.',
      },
      'endpoint.recovered': {
        subject: 'Ein Webhook-Endpunkt nimmt wieder an',
        what: (host) => `Der Webhook-Endpunkt ${host} nimmt Zustellungen wieder an.`,
        next: 'Zustellungen, die in der Zwischenzeit gescheitert sind, wurden oder werden erneut gesendet.',
      },
      'endpoint.certificate': {
        subject: 'Das Zertifikat eines Webhook-Endpunkts läuft bald ab',
        what: (host, expires) =>
          `Das Zertifikat des Webhook-Endpunkts ${host} läuft am ${expires} ab. Erneuern Sie es vorher, sonst scheitern die Zustellungen.`,
        next: 'Noch ist nichts unterbrochen: Es wird weiter zugestellt.',
      },
    },
    action: 'Endpunkt ansehen',
    time: 'Zeit',
    tenant: 'Mandant',
    endpoint: 'Endpunkt',
    footer: [
      'Die Seite gehört zum Mandanten des Endpunkts: Wenn Sie mehreren angehören, wechseln Sie zuerst dorthin.',
      'Sie erhalten diese Mail, weil Sie die Mitglieder dieses Mandanten verwalten. Dieselbe Meldung wird höchstens einmal pro Stunde gesendet.',
    ],
  },
}
