/** A client of Docket: every operation, grouped as the reference at `/docs` has them. */
import {
  OpenapiOperations,
  MetadataOperations,
  CommentsOperations,
  RelationsOperations,
  WorkflowOperations,
  SlaOperations,
  ImportsOperations,
  ExportsOperations,
  ServicesOperations,
  CatalogOperations,
  KbOperations,
  WebhooksOperations,
  IdentityOperations,
  IntegrationsOperations,
  InboundOperations,
} from './generated/api.ts';
import {
  ObjectsAdministration,
  SlaAdministration,
  ImportsAdministration,
  KbAdministration,
  WebhooksAdministration,
  SecretsAdministration,
  IdentityAdministration,
  IntegrationsAdministration,
  KeysAdministration,
  SessionAdministration,
  AccessAdministration,
  AuditAdministration,
  DeskAdministration,
  DeskQueuesAdministration,
  ConfigAdministration,
  HealthAdministration,
} from './generated/admin.ts';
import { Attachments, Bulk, Objects, Search } from './groups.ts';
import { type AnyTypes, Records, type RecordTypes } from './records.ts';
import { type Sender, Transport, type TransportOptions } from './transport.ts';

export type DocketOptions = TransportOptions;

/** What is in the administration interface alone; it needs a key with the scope `admin:manage`. */
export class Administration {
  readonly objects: ObjectsAdministration;
  readonly sla: SlaAdministration;
  readonly imports: ImportsAdministration;
  readonly kb: KbAdministration;
  readonly webhooks: WebhooksAdministration;
  readonly secrets: SecretsAdministration;
  readonly identity: IdentityAdministration;
  readonly integrations: IntegrationsAdministration;
  readonly keys: KeysAdministration;
  readonly session: SessionAdministration;
  readonly access: AccessAdministration;
  readonly audit: AuditAdministration;
  readonly desk: DeskAdministration;
  readonly deskQueues: DeskQueuesAdministration;
  readonly config: ConfigAdministration;
  readonly health: HealthAdministration;

  constructor(sender: Sender) {
    this.objects = new ObjectsAdministration(sender);
    this.sla = new SlaAdministration(sender);
    this.imports = new ImportsAdministration(sender);
    this.kb = new KbAdministration(sender);
    this.webhooks = new WebhooksAdministration(sender);
    this.secrets = new SecretsAdministration(sender);
    this.identity = new IdentityAdministration(sender);
    this.integrations = new IntegrationsAdministration(sender);
    this.keys = new KeysAdministration(sender);
    this.session = new SessionAdministration(sender);
    this.access = new AccessAdministration(sender);
    this.audit = new AuditAdministration(sender);
    this.desk = new DeskAdministration(sender);
    this.deskQueues = new DeskQueuesAdministration(sender);
    this.config = new ConfigAdministration(sender);
    this.health = new HealthAdministration(sender);
  }
}

/** @typeParam Types the record types of the installation, as `docket types` writes them */
export class Docket<Types extends RecordTypes = AnyTypes> {
  readonly openapi: OpenapiOperations;
  readonly metadata: MetadataOperations;
  readonly objects: Objects;
  readonly comments: CommentsOperations;
  readonly attachments: Attachments;
  readonly relations: RelationsOperations;
  readonly workflow: WorkflowOperations;
  readonly search: Search;
  readonly bulk: Bulk;
  readonly sla: SlaOperations;
  readonly imports: ImportsOperations;
  readonly exports: ExportsOperations;
  readonly services: ServicesOperations;
  readonly catalog: CatalogOperations;
  readonly kb: KbOperations;
  readonly webhooks: WebhooksOperations;
  readonly identity: IdentityOperations;
  readonly integrations: IntegrationsOperations;
  readonly inbound: InboundOperations;
  readonly admin: Administration;

  constructor(options: DocketOptions) {
    const sender = new Transport(options);
    this.openapi = new OpenapiOperations(sender);
    this.metadata = new MetadataOperations(sender);
    this.objects = new Objects(sender);
    this.comments = new CommentsOperations(sender);
    this.attachments = new Attachments(sender);
    this.relations = new RelationsOperations(sender);
    this.workflow = new WorkflowOperations(sender);
    this.search = new Search(sender);
    this.bulk = new Bulk(sender);
    this.sla = new SlaOperations(sender);
    this.imports = new ImportsOperations(sender);
    this.exports = new ExportsOperations(sender);
    this.services = new ServicesOperations(sender);
    this.catalog = new CatalogOperations(sender);
    this.kb = new KbOperations(sender);
    this.webhooks = new WebhooksOperations(sender);
    this.identity = new IdentityOperations(sender);
    this.integrations = new IntegrationsOperations(sender);
    this.inbound = new InboundOperations(sender);
    this.admin = new Administration(sender);
  }

  /** Records of one type, by its code. */
  records<Code extends keyof Types & string>(code: Code): Records<Types[Code]> {
    return new Records<Types[Code]>(this, code);
  }
}
