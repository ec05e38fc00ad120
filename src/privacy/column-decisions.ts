/**
 * What becomes of every column of the database when a device or a person is erased. A test holds this list against the schema: a
 * migration that adds a column decides here, and in the files beside it, what happens to what it holds.
 */
export interface ColumnDecisions {
  /** Rows of a device, or of a person, are removed when it is erased. */
  erasedWith?: readonly ("device" | "person")[];
  /** The columns of rows that are removed. */
  rows?: string;
  /** Columns that are emptied or rewritten where the rest of the row stays. */
  cleared?: string;
  /** Why columns stay as they are. */
  kept?: Readonly<Record<string, string>>;
}

export const columnDecisions: Readonly<Record<string, ColumnDecisions>> = {
  access_tokens: {
    kept: {
      "tokens of partners": "token_hash integration_id organization_id scopes created_at expires_at",
    },
  },
  activation_tokens: {
    erasedWith: ["person"],
    rows: "token_hash organization_id user_id created_at expires_at used_at",
  },
  alarm_mail_windows: {
    erasedWith: ["person"],
    rows: "user_id started_at count",
  },
  alert_thresholds: {
    erasedWith: ["device", "person"],
    rows: `id organization_id scope user_id device_id metric_key low high severity override_mode is_active
      min_duration_seconds clear_margin cooldown_seconds revision created_at updated_at deleted_at`,
  },
  assignments: {
    erasedWith: ["device", "person"],
    rows: "id organization_id device_id user_id role is_active source search assigned_at unassigned_at",
  },
  audit_log: {
    cleared: "actor_user_id actor_user object_repr search remote_addr changes_summary changes additional_data",
    kept: {
      "that something happened, when and to which random id; whoever that was is gone": `id organization_id action actor_type integration_id integration_name content_type object_pk
        timestamp correlation_id`,
    },
  },
  browser_sessions: {
    erasedWith: ["person"],
    rows: "id token_hash user_id organization_id joined_at created_at last_used_at ip user_agent",
  },
  commands: {
    erasedWith: ["device"],
    rows: `device_id id organization_id number command_type params status attempts awaited ack_wait_seconds
      node_id is_write_broken result error sender_user_id created_at sent_at acked_at completed_at
      expires_at due_at deleted_at`,
    cleared: "sender_user_id",
  },
  dead_letters: {
    erasedWith: ["device", "person"],
    rows: "integration_id id organization_id attempts last_error parked_at",
  },
  deliveries: {
    erasedWith: ["device", "person"],
    rows: "integration_id id organization_id push_epoch attempts due_at",
  },
  delivery_attempts: {
    erasedWith: ["device", "person"],
    rows: `integration_id id organization_id event_id attempt started_at duration_ms status_code error type
      device_uid answer`,
  },
  delivery_hours: {
    kept: { "how many deliveries succeeded": "integration_id hour bucket organization_id delivered failed" },
  },
  delivery_lanes: {
    kept: {
      "how far deliveries have come":
        "integration_id organization_id cursor_ms cursor_seq retry_at lease_owner lease_until",
    },
  },
  device_capability_overrides: {
    erasedWith: ["device"],
    rows: "device_id organization_id code supported params_schema updated_at",
  },
  device_codes: {
    erasedWith: ["device"],
    rows: "device_id organization_id code created_at",
  },
  device_media_days: {
    erasedWith: ["device"],
    rows: "device_id day organization_id bytes",
  },
  device_sessions: {
    erasedWith: ["device"],
    rows: `device_id organization_id node_id previous_node_id epoch protocol remote_addr connected_at
      disconnected_at network previous_remote_addr takeovers conflict_at transport`,
  },
  device_settings: {
    erasedWith: ["device"],
    rows: "device_id organization_id setting desired reported reported_at command_uuid updated_at send_again_at",
  },
  device_state: {
    cleared: `is_online last_seen_at status_changed_at firmware_version last_status last_location
      report_interval_seconds was_online previous_change_at is_live seen_slot battery_band sim_iccid sim_imsi
      sim_refused_at located_at newest_report_at`,
    kept: {
      "an empty row refuses packets of a gateway that has not heard of the deletion":
        "device_id organization_id session_epoch rule_version",
    },
  },
  devices: {
    erasedWith: ["device"],
    rows: `id organization_id uid name device_model_slug protocol_slug terminal_id terminal_key phone_number
      iccid timezone tags metadata search created_at updated_at deleted_at terminal_default_key`,
  },
  ecg_parts: {
    erasedWith: ["device"],
    rows: "device_id recording_id lead sequence organization_id sample_count samples received_at",
  },
  ecg_recordings: {
    erasedWith: ["device"],
    rows: `device_id id organization_id transfer total sampling_rate_hz scale_uv ts device_ts started_at
      received_at last_part_at status sample_count duration_ms leads avg_hr classification
      classification_source quality device_info notes event_id revision search`,
  },
  events: {
    erasedWith: ["device"],
    rows: `device_id id organization_id event_type severity ts device_ts title message fence_id fence_name
      threshold_id metric_key value location data search acknowledged_at acknowledged_by notes created_at
      deleted_at`,
    cleared: "acknowledged_by notes",
  },
  failed_attempts: {
    erasedWith: ["person"],
    rows: "kind subject started_at failures",
  },
  gateway_nodes: {
    kept: {
      "processes of the service": "id started_at lease_until",
    },
  },
  geofence_devices: {
    erasedWith: ["device", "person"],
    rows: "geofence_id device_id organization_id linked_at",
  },
  geofences: {
    erasedWith: ["device", "person"],
    rows: `id organization_id name description lat lng radius_m trigger_on_enter trigger_on_exit
      trigger_on_dwell dwell_threshold_seconds schedule is_active scope user_id shape_revision search
      created_at updated_at deleted_at shape_version versioned_shape`,
  },
  idempotency_keys: {
    erasedWith: ["device", "person"],
    rows: "principal_id method path key body_hash status body content_type location created_at scopes",
  },
  ingest_batches: {
    kept: {
      "numbers of transactions, kept for a day": "id committed_at",
    },
  },
  ingest_frames: {
    erasedWith: ["device"],
    rows: "device_id device_day frame_key received_at",
  },
  integration_secrets: {
    kept: {
      "hashes of secrets of partners": "integration_id secret_hash created_at valid_until",
    },
  },
  integrations: {
    cleared: "webhook_device_filter",
    kept: {
      "credentials and settings of a partner": `id organization_id name client_id status scopes webhook_url webhook_secret webhook_secret_previous
        webhook_secret_previous_until webhook_event_types link_hosts messaging_enabled created_at updated_at
        deleted_at webhook_paused revision`,
    },
  },
  invitations: {
    erasedWith: ["device", "person"],
    rows: `id organization_id email kind status role first_name last_name token_hash is_partner_link device_id
      invited_by mail_id mailed_at search created_at updated_at expires_at accepted_at revoked_at
      deleted_at`,
    cleared: "invited_by",
  },
  live_change_floors: {
    kept: {
      "a number for each organization": "organization_id seq",
    },
  },
  live_changes: {
    erasedWith: ["device"],
    rows: "id seq organization_id device_id object_id kind created_at",
  },
  live_readers: {
    kept: {
      "how far a reader has come": "name seq",
    },
  },
  locations: {
    erasedWith: ["device"],
    rows: `device_id ts id organization_id device_ts received_at lat lng altitude_m speed_kmh heading
      accuracy_m source satellites is_valid invalid_reason is_moving mcc mnc carrier address`,
  },
  mails: {
    erasedWith: ["device", "person"],
    rows: `id organization_id kind recipient locale params status attempts next_attempt_at last_error
      created_at finished_at integration_id`,
    cleared: "params",
  },
  memberships: {
    erasedWith: ["person"],
    rows: `id organization_id user_id email role first_name last_name phone_number search joined_at closed_at
      created_at updated_at is_open activation_mailed_at`,
  },
  message_audio: {
    erasedWith: ["device", "person"],
    rows: "device_id message_id organization_id bytes",
  },
  messages: {
    erasedWith: ["device", "person"],
    rows: `device_id id organization_id position direction message_type status text is_tts language voice
      mime_type duration_ms size_bytes sender_user_id sender_name failure_reason command_uuid ts
      created_at sent_at delivered_at read_at expires_at wire_epoch wire_serial speech_due_at
      speech_attempts search deleted_at`,
  },
  operator_log: {
    cleared: "operator_email remote_addr",
    kept: {
      "what was done to the service, when and by which random id; whoever that was is gone":
        "id operator_id action organization object detail at correlation_id",
    },
  },
  organizations: {
    kept: {
      "the tenant; its members are people, it is none": `id slug name timezone default_locale features per_minute per_hour created_at updated_at retention
        gateway_networks share_domains`,
    },
  },
  outbound_events: {
    erasedWith: ["device", "person"],
    rows: "integration_id id organization_id device_uid type occurred_at push_epoch body trace",
  },
  outbound_lanes: {
    kept: {
      "counters of the outbound log":
        "integration_id organization_id lane last_ms last_seq push_epoch push_epochs is_paused",
    },
  },
  password_resets: {
    erasedWith: ["person"],
    rows: "token_hash user_id created_at expires_at used_at",
  },
  place_cache: {
    kept: {
      "answers of place services, of nobody and kept for 30 days": "key value created_at",
    },
  },
  place_jobs: {
    erasedWith: ["device"],
    rows: "device_id id organization_id kind payload attempts due_at created_at",
  },
  poisoned_packets: {
    erasedWith: ["device"],
    rows: "id organization_id device_id protocol reason frame received_at has_event",
  },
  rate_windows: {
    erasedWith: ["person"],
    rows: "principal_id policy started_at used",
  },
  recovery_codes: {
    erasedWith: ["person"],
    rows: "user_id code_hash used_at",
  },
  rule_changes: {
    kept: {
      "random ids of rules and devices that are gone, and bounds; the last 10,000 of an organization":
        "organization_id version kind object_id before",
    },
  },
  rule_plans: {
    kept: {
      "a version for each organization": "organization_id version",
    },
  },
  rule_states: {
    erasedWith: ["device"],
    rows: "device_id organization_id state due_at",
  },
  rule_versions: {
    kept: {
      "a version for each organization": "organization_id version",
    },
  },
  schema_migrations: {
    kept: {
      "the schema": "version name checksum applied_at",
    },
  },
  second_factors: {
    erasedWith: ["person"],
    rows: "user_id sealed_secret created_at confirmed_at last_step",
  },
  service_processes: {
    kept: {
      "processes of the service": "id host pid version roles started_at seen_at lease_until figures",
    },
  },
  settings: {
    kept: {
      "settings of the installation": "key value updated_at",
    },
  },
  telemetry: {
    erasedWith: ["device"],
    rows: "device_id ts id organization_id device_ts received_at data",
  },
  throttled_networks: {
    kept: {
      "networks, for 15 minutes": "network throttled_until",
    },
  },
  unknown_devices: {
    erasedWith: ["device"],
    rows: "imei protocol remote_addr count first_seen_at last_seen_at",
  },
  users: {
    erasedWith: ["person"],
    rows: "id email password_hash created_at updated_at password_changed_at locale timezone alarm_mail operator_since",
  },
  voice_parts: {
    erasedWith: ["device"],
    rows: "device_id transfer sequence organization_id bytes",
  },
  voice_transfers: {
    erasedWith: ["device"],
    rows: "device_id transfer organization_id total part_hashes is_dropped created_at updated_at",
  },
  webhook_troubles: {
    kept: { "whether a webhook fails": "integration_id organization_id failing_since mailed_at" },
  },
};
